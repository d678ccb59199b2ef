package bloomline

// The kinds of filters beside each other: what one has all have, or say why not.

import (
	"encoding/binary"
	"fmt"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
)

func TestKindsAlike(t *testing.T) {
	all := strings.Fields(`
		Add AddString AddUint64 AddHash AddBatch AddStrings AddHashes
		AddIfAbsent AddStringIfAbsent AddUint64IfAbsent AddHashIfAbsent
		AddBatchIfAbsent AddStringsIfAbsent AddHashesIfAbsent
		Contains ContainsString ContainsUint64 ContainsHash
		ContainsBatch ContainsStrings ContainsHashes Hash Prefetch
		Params KeyCount Fill EstimatedKeys EstimatedRate WorstLineRate String View
		Clone Equal Union Intersect Clear MemoryUsage
		AppendBinary MarshalBinary UnmarshalBinary MarshalText UnmarshalText GobEncode GobDecode
		WriteTo ReadFrom WriteDelimited ReadDelimited Save`)
	// What reads alone.
	reads := adds + `View Clone Equal Union Intersect Clear MemoryUsage
		AppendBinary MarshalBinary UnmarshalBinary GobEncode GobDecode
		WriteTo ReadFrom WriteDelimited ReadDelimited Save`
	missing := map[string]string{"View": reads, "Mapped": reads}
	for _, row := range kindRows {
		missing[row.name] = row.lacks
	}
	kinds := builtKinds(randomHashes(900, 8))
	kinds["View"], kinds["Mapped"] = new(View), new(Mapped)
	for name, filter := range kindsOf(t) {
		kinds[name] = filter
	}
	for name, filter := range kinds {
		for _, method := range all {
			_, has := reflect.TypeOf(filter).MethodByName(method)
			if want := !slices.Contains(strings.Fields(missing[name]), method); has != want {
				t.Errorf("%s has %s: %v", name, method, has)
			}
		}
	}
}

// What is in memory is what is encoded, but for footers and, in a window, marks; a clone has as much.
func TestKindsMemory(t *testing.T) {
	hashes := randomHashes(900, 8)
	kinds := builtKinds(hashes)
	for name, filter := range kindsOf(t) {
		addsOf(filter).(adder).AddHashes(hashes)
		kinds[name] = filter
	}
	for name, filter := range kinds {
		data, err := filter.(interface{ MarshalBinary() ([]byte, error) }).MarshalBinary()
		memory := filter.(interface{ MemoryUsage() int }).MemoryUsage()
		footers := len(data) - memory
		if _, ok := filter.(*GrowingFilter); ok && err == nil && memory < 3*len(data) {
			footers = 0 // it has room to grow
		}
		if err != nil || footers < -64 || footers > len(data)/10+512 {
			t.Errorf("%s: %d bytes of %d encoded ones, %v", name, memory, len(data), err)
		}
		clone := reflect.ValueOf(filter).MethodByName("Clone").Call(nil)[0].Interface()
		if cloned := clone.(interface{ MemoryUsage() int }).MemoryUsage(); cloned != memory {
			t.Errorf("%s: %d bytes, its clone %d", name, memory, cloned)
		}
	}
	filter, counting := orPanic(NewWithParams(Params{LineCount: 10, K: 6})), orPanic(NewCountingWithParams(Params{LineCount: 10, K: 6}))
	if filter.MemoryUsage() != 640 || counting.MemoryUsage() != 5*640 {
		t.Error(filter.MemoryUsage(), counting.MemoryUsage())
	}
}

// To prefetch changes nothing, whatever the kind, and a zero filter has nothing to prefetch.
func TestKindsPrefetch(t *testing.T) {
	hashes := randomHashes(900, 8)
	kinds := builtKinds(hashes)
	for name, filter := range kindsOf(t) {
		addsOf(filter).(adder).AddHashes(hashes)
		kinds[name] = filter
		if viewed, ok := filter.(interface{ View() View }); ok {
			kinds[name+", view"] = viewed.View()
		}
	}
	for name, filter := range kinds {
		if _, ok := filter.(Prober); !ok {
			continue // it answers by columns
		}
		before := filter.(Prober).ContainsHashes(hashes, nil)
		fetch := filter.(interface{ Prefetch(uint64) })
		if n := testing.AllocsPerRun(100, func() { fetch.Prefetch(hashes[0]) }); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
		for _, hash := range append(hashes, 0, math.MaxUint64) {
			fetch.Prefetch(hash)
		}
		if !slices.Equal(filter.(Prober).ContainsHashes(hashes, nil), before) {
			t.Errorf("%s: other answers", name)
		}
	}
}

// A view measures what it views.
func TestViewsMeasure(t *testing.T) {
	hashes := randomHashes(900, 8)
	for name, filter := range kindsOf(t) {
		viewed, ok := filter.(interface {
			measured
			View() View
			KeyCount() uint64
		})
		if !ok {
			continue
		}
		addsOf(filter).(adder).AddHashes(hashes)
		view := viewed.View()
		keys := float64(viewed.KeyCount()) // a CuckooFilter counts
		if estimated, ok := filter.(interface{ EstimatedKeys() float64 }); ok {
			keys = estimated.EstimatedKeys()
		}
		if view.Fill() != viewed.Fill() || view.Fill() == 0 || view.EstimatedKeys() != keys || math.Abs(keys-900) > 60 ||
			view.EstimatedRate() != viewed.EstimatedRate() || view.WorstLineRate() != viewed.WorstLineRate() {
			t.Errorf("%s: %v %v, want %v %v", name, view.Fill(), view.EstimatedKeys(), viewed.Fill(), keys)
		}
	}
	static := orPanic(BuildStaticHashes(hashes, 0.01)).View()
	block := orPanic(OpenLevelDB(append(make([]byte, 8), 6)))
	if static.Fill() != 0 || static.EstimatedKeys() != 900 || block.Fill() != 0 || block.EstimatedKeys() != 0 || (View{}).Fill() != 0 {
		t.Error("what is not known is measured")
	}
}

type measured interface {
	Fill() float64
	EstimatedRate() float64
	WorstLineRate() float64
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-12*math.Max(1, math.Abs(b)) }

// How full the composed kinds are follows from the plain filters that they consist of.
func TestMeasures(t *testing.T) {
	same := func(what string, got, want measured) {
		t.Helper()
		if !near(got.Fill(), want.Fill()) || !near(got.EstimatedRate(), want.EstimatedRate()) || !near(got.WorstLineRate(), want.WorstLineRate()) {
			t.Errorf("%s: %v %v %v, want %v %v %v", what, got.Fill(), got.EstimatedRate(), got.WorstLineRate(),
				want.Fill(), want.EstimatedRate(), want.WorstLineRate())
		}
	}
	hashes := randomHashes(5000, 3)
	for _, k := range []int{1, 6, 13} {
		params := Params{LineCount: 131, K: k, Seed: 9} // chunks of 64, 64 and 3 lines
		for _, n := range []int{0, 100, 2000} {
			what := fmt.Sprintf("k %d, %d keys", k, n)
			plain, err := NewWithParams(params)
			must(err)
			plain.AddHashes(hashes[:n])
			shared, err := NewConcurrentWithParams(params)
			must(err)
			shared.AddHashes(hashes[:n])
			same(what+", concurrent", shared, plain)
			if !near(shared.EstimatedKeys(), plain.EstimatedKeys()) {
				t.Errorf("%s: %v keys, want %v", what, shared.EstimatedKeys(), plain.EstimatedKeys())
			}
			one, err := NewWindowWithParams(1, params)
			must(err)
			one.AddHashes(hashes[:n])
			same(what+", a window of one", one, plain)

			// Lines of generations that are dropped stay until they are used, and do not count.
			window, err := NewWindowWithParams(3, params)
			must(err)
			var right, fill, worst = 1.0, 0.0, 0.0
			for generation := range 5 {
				window.Rotate()
				part := hashes[generation*10 : generation*10+n/(generation+1)]
				window.AddHashes(part)
				if generation < 2 {
					continue
				}
				filter, err := NewWithParams(params)
				must(err)
				filter.AddHashes(part)
				right *= 1 - filter.EstimatedRate()
				fill += filter.Fill() / 3
				worst = max(worst, filter.WorstLineRate())
			}
			if !near(window.EstimatedRate(), 1-right) || !near(window.Fill(), fill) || !near(window.WorstLineRate(), worst) {
				t.Errorf("%s, window: %v %v %v, want %v %v %v", what, window.EstimatedRate(), window.Fill(), window.WorstLineRate(), 1-right, fill, worst)
			}
		}
	}
	scalable, err := NewScalable(50, 0.01, WithSeed(9))
	must(err)
	scalable.AddHashes(hashes)
	right, keys, worst, set, bits := 1.0, 0.0, 0.0, 0.0, 0.0
	for i, view := range scalable.Stages() {
		stage := scalable.stages[i].filter
		right *= 1 - view.EstimatedRate()
		keys += stage.EstimatedKeys()
		worst = max(worst, view.WorstLineRate())
		set += stage.Fill() * float64(len(view.all))
		bits += float64(len(view.all))
	}
	if !near(scalable.EstimatedRate(), 1-right) || scalable.EstimatedKeys() != keys || scalable.WorstLineRate() != worst || !near(scalable.Fill(), set/bits) {
		t.Error(scalable.EstimatedRate(), scalable.EstimatedKeys(), scalable.WorstLineRate(), scalable.Fill())
	}
	if scalable.Rate() != 0.01 || math.Abs(keys/5000-1) > 0.05 || scalable.EstimatedRate() > 0.01 || scalable.ExpectedRate() > 0.01 {
		t.Error(scalable, keys)
	}
	cuckoo, err := NewCuckoo(5000, 0.002)
	must(err)
	if cuckoo.EstimatedRate() != 0 || cuckoo.WorstLineRate() != 0 {
		t.Error("an empty filter is wrong")
	}
	if _, err := cuckoo.AddHashes(hashes); err != nil {
		t.Fatal(err)
	}
	if want := cuckoo.Params().Rate(5000); !near(cuckoo.EstimatedRate(), want) || cuckoo.WorstLineRate() <= want {
		t.Error(cuckoo.EstimatedRate(), cuckoo.WorstLineRate(), want)
	}
}

func TestClear(t *testing.T) {
	for name, filter := range kindsOf(t) {
		empty := cloneOf(filter)
		addsOf(filter).(adder).AddHashes(randomHashes(900, 5))
		if equal(filter, empty) {
			t.Errorf("%s: adding changes nothing", name)
		}
		filter.(interface{ Clear() }).Clear()
		if !equal(filter, empty) || filter.(measured).Fill() != 0 {
			t.Errorf("%s: something is left", name)
		}
		addsOf(filter).(adder).AddString("apple")
		if !filter.ContainsString("apple") {
			t.Errorf("%s: takes no keys afterwards", name)
		}
		reflect.Zero(reflect.TypeOf(filter)).Interface().(interface{ Clear() }).Clear()
		fresh(filter).(interface{ Clear() }).Clear()
	}
	// In a later slice as well, and in a generation whose lines are not all its own yet.
	window, err := NewWindow(3, 1000, 0.01)
	must(err)
	window.RotateAfter(200)
	window.AddHashes(randomHashes(900, 6))
	slice := window.TimeSlice()
	window.Clear()
	if window.TimeSlice() != slice || window.Fill() != 0 || window.KeyCount(0)+window.KeyCount(1)+window.KeyCount(2) != 0 {
		t.Error(window)
	}
}

func TestConcurrentFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "shared")
	shared, err := NewConcurrent(100, 0.01, WithSeed(9))
	must(err)
	shared.AddString("apple")
	must(shared.Save(path))
	loaded, err := LoadConcurrent(path)
	if err != nil || !loaded.Equal(shared) || !loaded.AddStringIfAbsent("pear") || loaded.Params().Classic {
		t.Error(loaded, err)
	}
	plain, err := Load(path)
	if err != nil || !plain.ContainsString("apple") {
		t.Error(err)
	}
	classic, err := NewClassic(100, 0.01)
	must(err)
	if !classic.Share().Params().Classic {
		t.Error("a classic filter is shared as another")
	}
	if _, err := NewConcurrentWithParams(Params{}); err != ErrNoLines {
		t.Error(err)
	}
	if zero := new(ConcurrentFilter); zero.Save(path+"2") == nil {
		t.Error("a zero filter is saved")
	}
}

// Adds, removals and probes allocate nothing, in batches as well, nor does opening a view.
func TestKindsAllocateNothing(t *testing.T) {
	hashes := randomHashes(700, 1)
	keys, texts := make([][]byte, len(hashes)), make([]string, len(hashes))
	for i := range hashes {
		keys[i] = binary.LittleEndian.AppendUint64(make([]byte, 32, 40), hashes[i]) // a copy would be on the heap
		texts[i] = string(keys[i])
	}
	out := make(Bitmap, 11)
	static := orPanic(BuildStaticHashes(hashes, 0.01))
	block := orPanic(OpenLevelDB(append(make([]byte, 8), 6)))
	kinds := map[string]Prober{"View": static.View(), "Mapped": &Mapped{View: static.View()}, "LevelDB": block}
	for name, filter := range builtKinds(hashes) {
		if probe, ok := filter.(Prober); ok {
			kinds[name] = probe
		}
	}
	for name, filter := range kindsOf(t) {
		kinds[name] = filter
	}
	for name, probe := range kinds {
		work := map[string]func(){
			"Contains": func() {
				probe.Contains(keys[0])
				probe.ContainsString(texts[0])
				probe.ContainsUint64(3)
				probe.ContainsHash(3)
			},
			"ContainsBatch": func() { probe.ContainsBatch(keys, out) }, "ContainsStrings": func() { probe.ContainsStrings(texts, out) },
			"ContainsHashes": func() { probe.ContainsHashes(hashes, out) },
		}
		if batches, ok := probe.(ifAbsentBatches); ok {
			single := probe.(ifAbsent)
			work["AddIfAbsent"] = func() {
				single.AddIfAbsent(keys[0])
				single.AddStringIfAbsent(texts[0])
				single.AddUint64IfAbsent(1)
				single.AddHashIfAbsent(5)
			}
			work["AddBatchIfAbsent"] = func() {
				batches.AddBatchIfAbsent(keys, out)
				batches.AddStringsIfAbsent(texts, out)
				batches.AddHashesIfAbsent(hashes, out)
			}
		}
		if in, ok := addsOf(probe).(adder); ok {
			work["Add"] = func() { in.Add(keys[0]); in.AddString(texts[0]); in.AddUint64(1); in.AddHash(5) }
			work["AddBatch"] = func() { in.AddBatch(keys); in.AddStrings(texts); in.AddHashes(hashes) }
			if cuckoo, ok := probe.(*CuckooFilter); ok { // in which there is no room for all that
				work["Add"] = func() { cuckoo.Clear(); in.Add(keys[0]); in.AddString(texts[0]) }
				work["AddBatch"] = func() { cuckoo.Clear(); in.AddStrings(texts); cuckoo.Clear(); in.AddHashes(hashes) }
			}
			work["AddBatch"]() // a ScalableFilter grows
		}
		if in, ok := probe.(remover); ok {
			work["Remove"] = func() { _ = in.Remove(keys[0]); _ = in.RemoveString(texts[0]) }
			work["RemoveBatch"] = func() { in.RemoveBatch(keys, out); in.RemoveStrings(texts, out); in.RemoveHashes(hashes, out) }
		}
		if _, ok := probe.(*GrowingFilter); ok { // whose lines move
			for _, method := range strings.Fields("Add AddBatch AddIfAbsent AddBatchIfAbsent Remove RemoveBatch") {
				delete(work, method)
			}
		}
		if counting, ok := probe.(*CountingFilter); ok {
			work["Count"] = func() { counting.Count(keys[0]) }
		}
		for method, do := range work {
			if n := testing.AllocsPerRun(100, do); n != 0 {
				t.Errorf("%s.%s: %v allocations", name, method, n)
			}
		}
	}
	encoded, rows := orPanic(static.MarshalBinary()), make([]uint32, len(texts))
	group, builder := NewGroup([]View{static.View(), block}), orPanic(NewStaticBuilder(0.01))
	builder.AddHashes(hashes)
	for name, open := range map[string]func(){
		"OpenView":      func() { v, _ := OpenView(encoded); v.ContainsString(texts[0]) },
		"OpenRocksDB":   func() { v, _ := OpenRocksDB(encoded); v.ContainsHashes(hashes, out) },
		"Group":         func() { group.ContainsString(texts[0], out) },
		"StaticBuilder": func() { builder.Clear(); builder.AddStrings(texts); builder.AddString(texts[0]) },
		"SelectStrings": func() { SelectStrings(static, texts, rows); SelectStrings(&block, texts, rows) },
	} {
		if n := testing.AllocsPerRun(100, open); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

// What has to allocate does not do so for each string.
func TestLongStringsAreNotCopied(t *testing.T) {
	texts := make([]string, 2*leastEach)
	for i := range texts {
		texts[i] = fmt.Sprintf("%40d", i)
	}
	filter := mustNew(t, len(texts), 0.01)
	for name, work := range map[string]func(){
		"Filter":       func() { filter.AddStringsIfAbsentParallel(texts, nil, 2) },
		"BuildCascade": func() { orPanic(BuildCascadeStrings(texts, nil)) },
	} {
		if n := testing.AllocsPerRun(1, work); n > float64(len(texts)/10) {
			t.Errorf("%s: %v allocations for %d strings", name, n, len(texts))
		}
	}
}

// Bytes of a key are those of the string, also of the empty one.
func TestBytesOfKey(t *testing.T) {
	for _, text := range []string{"", "x", strings.Repeat("apple", 9)} {
		if string(bytesOfKey(text)) != text || string(bytesOfKey([]byte(text))) != text {
			t.Errorf("%q is %q", text, bytesOfKey(text))
		}
	}
	if len(bytesOfKey([]byte(nil))) != 0 || len(bytesOfKey(strings.Repeat("apple", 9)[3:3])) != 0 {
		t.Error("there are bytes in nothing")
	}
}

// readAtOnce reads a filter of hashes on several goroutines, for the race detector. has reports whether one
// is in.
func readAtOnce(t *testing.T, filter interface {
	goldenFilter
	View() View
}, hashes []uint64, has func(hash uint64) bool) {
	t.Helper()
	var readers sync.WaitGroup
	for range 4 {
		readers.Add(1)
		go func() {
			defer readers.Done()
			view := filter.View()
			for _, hash := range hashes {
				if !has(hash) || !view.ContainsHash(hash) {
					t.Error("a key is lost")
				}
			}
			if _, err := filter.MarshalBinary(); err != nil || filter.ContainsHashes(hashes, nil).Count() != len(hashes) {
				t.Errorf("%v, or a key is lost", err)
			}
		}()
	}
	readers.Wait()
}

// What is printed is a line, not the bytes of a filter.
func TestViewsPrintAsALine(t *testing.T) {
	filter := mustNew(t, 100_000, 0.01)
	filter.AddString("apple")
	cuckoo, err := NewCuckoo(1000, 0.03)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "filter")
	if err := filter.Save(path); err != nil {
		t.Fatal(err)
	}
	mapped, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer mapped.Close()
	block, err := OpenLevelDB(append(make([]byte, 8), 6))
	if err != nil {
		t.Fatal(err)
	}
	ofFilter := fmt.Sprintf("bloomline.View{1 keys, %d lines, k 6}", filter.Params().LineCount)
	for want, value := range map[string]any{
		ofFilter:             filter.View(),
		ofFilter + " ":       mapped,
		"{" + ofFilter + "}": struct{ V View }{filter.View()},
		fmt.Sprintf("bloomline.View{0 keys, %d lines, 8 bits}", cuckoo.Params().LineCount): cuckoo.View(),
		"bloomline.View{2 keys, 1 lines, 7 rows}":                                          staticOf(t, 7, []uint64{1, 2}).View(),
		"bloomline.View{block of 9 bytes}":                                                 block,
		"bloomline.View{block of 0 bytes}":                                                 View{},
		"bloomline.View{block of 0 bytes} ":                                                (*Mapped)(nil),
	} {
		if got := fmt.Sprint(value); got != strings.TrimSpace(want) {
			t.Errorf("%s, not %s", got, want)
		}
	}
}
