package bloomline

// Files that are not what they should be, sizes and rates at the edge, and what it is told then.

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// A large file that is no filter, or ends as a larger one, costs no memory.
func TestLargeFilesOfNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "large")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	const size = 1 << 30
	if err := file.Truncate(size); err != nil { // sparse: zeros that nobody has written
		t.Fatal(err)
	}
	shape := footer{LineCount: 1 << 40, K: 6, Layout: layoutLines.number}
	for _, end := range []struct {
		bytes []byte
		want  error
	}{{make([]byte, footerBytes), ErrNotAFilter}, {shape.bytes(), ErrTruncated}} {
		if math.MaxInt == math.MaxInt32 && end.want == ErrTruncated {
			end.want = ErrLineCount // which cannot be addressed there
		}
		if _, err := file.WriteAt(end.bytes, size-footerBytes); err != nil {
			t.Fatal(err)
		}
		for name, load := range loaders {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			if err := load(path); !errors.Is(err, end.want) && !errors.Is(err, ErrLayout) {
				t.Errorf("%s: %v, want %v", name, err, end.want)
			}
			if runtime.ReadMemStats(&after); after.TotalAlloc-before.TotalAlloc > 1<<20 {
				t.Errorf("%s takes %d bytes to refuse it", name, after.TotalAlloc-before.TotalAlloc)
			}
		}
	}
}

// What a file was loaded from is not looked at again.
func TestLoadedFilesAreCopies(t *testing.T) {
	path := filepath.Join(t.TempDir(), "filter")
	filter := mustNew(t, 10_000, 0.01)
	filter.AddString("apple")
	if err := filter.Save(path); err != nil {
		t.Fatal(err)
	}
	loaded, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	if !loaded.Equal(filter) {
		t.Error("the file is loaded, and changes the filter still")
	}
	for name, load := range loaders {
		if err := load(path); !errors.Is(err, ErrTruncated) || !strings.Contains(err.Error(), "empty") {
			t.Errorf("%s of an empty file: %v", name, err)
		}
		if err := load(filepath.Dir(path)); !errors.Is(err, ErrNotAFile) {
			t.Errorf("%s of a directory: %v", name, err)
		}
	}
}

// The permissions of a file outlast a Save over it.
func TestSaveKeepsPermissions(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Log("Windows has none of them")
		return
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "filter")
	filter := mustNew(t, 10, 0.01)
	for _, mode := range []fs.FileMode{0o600, 0o640, 0o444, 0o777} {
		if err := filter.Save(path); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		if err := filter.Save(path); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != mode {
			t.Errorf("mode %o became %v, %v", mode, info.Mode(), err)
		}
	}
	// A link is replaced, and what it leads to stays.
	link, target := filepath.Join(dir, "link"), filepath.Join(dir, "target")
	if err := errors.Join(os.WriteFile(target, []byte("kept"), 0o600), os.Symlink(target, link), filter.Save(link)); err != nil {
		t.Fatal(err)
	}
	kept, err := os.ReadFile(target)
	if info, statErr := os.Lstat(link); err != nil || statErr != nil || string(kept) != "kept" || info.Mode() != 0o600 {
		t.Error("a link was followed", err, statErr)
	}
}

// A scalable filter from a file that claims a large capacity does not grow by that.
func TestCapacityIsNotBelieved(t *testing.T) {
	for _, capacity := range []uint64{1 << 32, 1 << 40, math.MaxUint64 / 2, math.MaxUint64} {
		filter := mustScalable(t, 0, 0.01)
		filter.newest().capacity = capacity
		filter.newest().filter.view.keyCount = capacity
		data, err := filter.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		var claimed ScalableFilter
		if err := claimed.UnmarshalBinary(data); err != nil {
			t.Fatal(err)
		}
		if again, _ := claimed.MarshalBinary(); string(again) != string(data) {
			t.Error("what was read is written as something else")
		}
		claimed.AddString("apple")
		// As docs/format/counting-scalable-window.md has it: no more than 64 KiB after one line, and full use of that.
		if lines := len(claimed.stages[1].filter.view.all); lines > 1024 || lines < 1023 || len(claimed.stages) != 2 {
			after, _ := claimed.MarshalBinary()
			t.Errorf("%d bytes that claim room for %d keys grow to %d", len(data), capacity, len(after))
		}
		if !claimed.ContainsString("apple") {
			t.Error("a key is lost")
		}
	}
	// One that does not lie grows as before.
	filter := mustScalable(t, 100, 0.001)
	for i := range 10_000 {
		filter.AddHash(HashUint64(uint64(i), 0))
	}
	for i, stage := range filter.stages {
		if want := uint64(100 << i); stage.capacity != want {
			t.Errorf("stage %d is for %d keys, not %d", i, stage.capacity, want)
		}
	}
}

// Messages name what is wrong.
func TestMessages(t *testing.T) {
	panicked := func(do func()) (text string) {
		defer func() { text, _ = recover().(string) }()
		do()
		return ""
	}
	shared := mustNew(t, 10, 0.1)
	shared.Share()
	counting, err := NewCounting(10, 0.1)
	if err != nil {
		t.Fatal(err)
	}
	counting.Detach()
	var zero Filter
	for text, want := range map[string]string{
		panicked(func() { shared.AddString("a") }):   "Share",
		panicked(func() { counting.AddString("a") }): "Detach",
		rateError(1e-25):                                           "too small",
		rateError(2):                                               "not between 0 and 1",
		second(NewCuckoo(10, 1e-9)).Error():                        "too small",
		second(NewWindow(-1, 10, 0.1)).Error():                     "2^32 - 1 generations",
		zero.UnmarshalBinary(nil).Error():                          "empty",
		second(NewScalable(10, 1e-20)).Error():                     "too small",
		zero.UnmarshalText([]byte("not base64")).Error():           "not the text of a filter",
		zero.Union(mustNew(t, 10, 0.1)).Error():                    "line count, k, seed and type",
		second(mustNew(t, 10, 0.1).FoldToRate(math.NaN())).Error(): "not between 0 and 1",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q does not speak of %q", text, want)
		}
	}
	// 2^32 generations are too many on every CPU whose int holds the number.
	if count := uint64(math.MaxUint32) + 1; uint64(math.MaxInt) >= count {
		if _, err := NewWindow(int(count), 10, 0.1); !errors.Is(err, ErrGenerations) || !strings.Contains(err.Error(), "2^32 - 1") {
			t.Error(err)
		}
	}
}

// rateError is what is wrong with a rate.
func rateError(rate float64) string {
	return second(ParamsForRate(10, rate)).Error()
}

// A foldable shape folds as often as it says, to the rate that was asked for.
func TestFoldable(t *testing.T) {
	for _, keys := range []int{1, 1000, 5_000_000, 10_000_000, 50_000_000} {
		params, err := ParamsForRate(keys, 0.01)
		if err != nil {
			t.Fatal(err)
		}
		for folds := range 12 {
			foldable, err := params.Foldable(folds)
			if err != nil || foldable.LineCount%(1<<folds) != 0 || foldable.LineCount < params.LineCount ||
				foldable.LineCount >= params.LineCount+1<<folds || foldable.K != params.K {
				t.Errorf("%d keys, %d folds: %v of %v, %v", keys, folds, foldable, params, err)
			}
		}
	}
	for _, folds := range []int{-1, 63, 64, math.MaxInt, math.MinInt} {
		if _, err := (Params{LineCount: 1, K: 6}).Foldable(folds); !errors.Is(err, ErrLineCount) {
			t.Errorf("%d folds: %v", folds, err)
		}
	}
	if _, err := (Params{LineCount: math.MaxUint64, K: 6}).Foldable(3); !errors.Is(err, ErrLineCount) {
		t.Error(err)
	}
	// For 64,000 keys at most; 1,000 come.
	params, err := ParamsForRate(64_000, 0.01)
	if err == nil {
		params, err = params.Foldable(6)
	}
	if err != nil {
		t.Fatal(err)
	}
	filter, err := NewWithParams(params)
	if err != nil {
		t.Fatal(err)
	}
	definition := func(count uint64) *Filter { // made for so many lines at once
		small, err := NewWithParams(Params{LineCount: count, K: params.K})
		if err != nil {
			t.Fatal(err)
		}
		for i := range 1000 {
			small.AddHash(HashUint64(uint64(i), 0))
		}
		return small
	}
	for i := range 1000 {
		filter.AddHash(HashUint64(uint64(i), 0))
	}
	folds, err := filter.FoldToRate(0.01)
	if err != nil || folds < 5 || !filter.Equal(definition(params.LineCount>>folds)) {
		t.Errorf("folded %d times: %v, %v", folds, filter, err)
	}
	if rate := filter.EstimatedRate(); rate > 0.01 || folds < 6 && definition(params.LineCount>>(folds+1)).EstimatedRate() <= 0.01 {
		t.Errorf("folded %d times, the rate is %v", folds, rate)
	}
	classic, err := NewClassic(10, 0.1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := classic.FoldToRate(0.1); !errors.Is(err, ErrClassic) {
		t.Error(err)
	}
	if folds, err := new(Filter).FoldToRate(0.1); folds != 0 || err != nil {
		t.Error(folds, err)
	}
}

// Keys that are chosen for one line show.
func TestWorstLine(t *testing.T) {
	filter := mustNew(t, 100_000, 0.01)
	for i := range 100_000 {
		filter.AddHash(HashUint64(uint64(i), 0))
	}
	usual := filter.WorstLineRate()
	rate := filter.EstimatedRate()
	if usual < rate || usual > 0.3 {
		t.Errorf("the fullest line %v, all %v", usual, rate)
	}
	for i := range 300 { // all of the last line
		filter.AddHash(HashUint64(uint64(i), 0) | 0xFFFF<<48)
	}
	if worst := filter.WorstLineRate(); worst < 0.9 || filter.View().WorstLineRate() != worst || filter.EstimatedRate() > 1.1*rate {
		t.Errorf("the fullest line %v, all %v", worst, filter.EstimatedRate())
	}
	cuckoo, err := NewCuckoo(100_000, 0.01)
	if err != nil {
		t.Fatal(err)
	}
	if cuckoo.View().WorstLineRate() != 0 {
		t.Error("an empty cuckoo filter has a full line")
	}
	for i := range 100_000 {
		if err := cuckoo.AddHash(HashUint64(uint64(i), 0)); err != nil {
			t.Fatal(err)
		}
	}
	if worst := cuckoo.View().WorstLineRate(); worst < cuckoo.View().EstimatedRate() || worst > 0.032 {
		t.Error(worst)
	}
	classic, err := NewClassic(1000, 0.01)
	if err != nil {
		t.Fatal(err)
	}
	classic.AddString("a")
	if classic.WorstLineRate() != classic.EstimatedRate() || new(Filter).WorstLineRate() != 1 || (View{}).WorstLineRate() != 1 {
		t.Error("what has no lines")
	}
}

// Every kind takes a random seed, and no two are alike.
func TestRandomSeeds(t *testing.T) {
	seeds := map[uint64]string{0: "none"}
	note := func(name string, seed uint64, err error) {
		if before, ok := seeds[seed]; ok || err != nil {
			t.Errorf("%s has the seed %d, as %s: %v", name, seed, before, err)
		}
		seeds[seed] = name
	}
	random := WithRandomSeed()
	note("Params", Params{}.WithRandomSeed().Seed, nil)
	note("CuckooParams", CuckooParams{}.WithRandomSeed().Seed, nil)
	plain, err := New(10, 0.1, random)
	note("New", plain.Params().Seed, err)
	classic, err := NewClassic(10, 0.1, random)
	note("NewClassic", classic.Params().Seed, err)
	shared, err := NewConcurrent(10, 0.1, random)
	note("NewConcurrent", shared.Params().Seed, err)
	counting, err := NewCounting(10, 0.1, random)
	note("NewCounting", counting.Params().Seed, err)
	cuckoo, err := NewCuckoo(10, 0.1, random)
	note("NewCuckoo", cuckoo.Params().Seed, err)
	scalable, err := NewScalable(10, 0.1, random)
	note("NewScalable", scalable.seed, err)
	window, err := NewWindow(3, 10, 0.1, random)
	note("NewWindow", window.Params().Seed, err)
	static, err := BuildStaticStrings(nil, 0.1, random)
	note("BuildStaticStrings", static.Params().Seed, err)
	note("StaticParams", StaticParams{}.WithRandomSeed().Seed, nil)
	shape := Params{LineCount: 5, K: 4}.WithRandomSeed()
	if shape.LineCount != 5 || shape.K != 4 {
		t.Error("the shape is another one")
	}
}

// Batches that cannot be taken touch nothing.
func TestRefusedBatches(t *testing.T) {
	var zero CountingFilter
	keys := make([]string, 2000)
	func() {
		defer func() { _ = recover() }()
		zero.AddStrings(keys)
		t.Error("keys went into nothing")
	}()
	if zero.KeyCount() != 0 || zero.RemoveStrings(keys, nil).Count() != 0 {
		t.Error("something is in it")
	}
}

// Pages of 2 MiB that a filter does not fill are not asked for, and little is taken to begin at one.
func TestHugePages(t *testing.T) {
	for _, size := range []int{0, 64, 2 << 20, 2<<20 + 64, 4 << 20, 5<<20 + 64, 21 << 20} {
		bytes := orPanic(newBytes(size))
		pages := hugePagesIn(bytes)
		if len(pages)%hugePage != 0 || len(pages) > size || size >= 4<<20 && len(pages) < size-4<<20 {
			t.Errorf("%d bytes have %d in huge pages", size, len(pages))
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		bytes = orPanic(newBytes(size))
		if runtime.ReadMemStats(&after); after.TotalAlloc-before.TotalAlloc > uint64(len(bytes)+len(bytes)/10+1<<16) {
			t.Errorf("%d bytes take %d", size, after.TotalAlloc-before.TotalAlloc)
		}
	}
}
