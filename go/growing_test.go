package bloomline

// What only growing filters have: sets, counts, lists. Lines and trees are tested in internal/growing.

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/bloomline/bloomline/go/internal/format"
	"github.com/bloomline/bloomline/go/internal/growing"
)

// growingMade makes one as a history says, also for more keys than an int has on 32 bits.
func growingMade(t *testing.T, args []string) (anyKind, error) {
	keys, seed := number(t, args[0], 10), number(t, args[2], 10)
	if keys <= math.MaxInt {
		return NewGrowing(int(keys), float(args[1]), WithSeed(seed))
	}
	shape, err := growing.Bounded(keys, float(args[1]))
	return growingOf(growing.New(shape), seed, 0), err
}

// growingOther answers the verbs of histories that no other kind has.
func growingOther(t *testing.T, filter anyKind, words []string) string {
	if words[0] != "count" {
		return ""
	}
	f, keys := filter.(*GrowingFilter), readHistoryKeys(t, words[1:])
	count := f.CountHash(keys.hashed(f.seed())[0])
	if keys.bytes && (f.CountString(keys.texts[0]) != count || f.Count(keys.slices[0]) != count) {
		t.Errorf("%q alone is another", keys.texts[0])
	}
	return fmt.Sprint(count)
}

func TestGoldenGrowing(t *testing.T) {
	goldenEach(t, "growing/", 25, 80, func(name string, data []byte, numbers []uint64, want error) {
		var filter GrowingFilter
		view, err := OpenView(data)
		if decoded := filter.UnmarshalBinary(data); !errors.Is(decoded, want) || !errors.Is(err, want) {
			t.Errorf("%s: %v and %v, want %v", name, decoded, err, want)
			return
		}
		loose, err := OpenViewUnverified(data)
		if want != nil {
			if !view.ContainsHash(1) || !filter.ContainsHash(1) {
				t.Errorf("%s: what was rejected says no", name)
			}
			twice := strings.Contains(name, "/order-10-11") // lines are damaged, and a record is
			if strings.Contains(name, "/lines-") != (err == nil) || err != nil && !errors.Is(err, want) && !twice {
				t.Errorf("%s: unverified: %v, want %v", name, err, want)
			}
			return
		}
		params, _ := view.GrowingParams()
		if params != filter.Params() || params.Seed != numbers[2] || view.KeyCount() != numbers[3] || filter.KeyCount() != numbers[3] {
			t.Errorf("%s: %v, %d keys, want %v", name, params, view.KeyCount(), numbers)
		}
		changed := filter.Clone()
		changed.AddHash(5)
		for _, probe := range []Prober{view, loose, &filter, changed} {
			if changed.RemoveHash(5) != nil && probe == changed {
				t.Errorf("%s: what was added is not removed", name)
			}
			hashes, counts := goldenProbes(t, "growing/"+name, probe)
			for i, hash := range hashes {
				if count := filter.CountHash(hash); min(count, 1) != uint64(counts[i]) || changed.CountHash(hash) != count {
					t.Errorf("%s: hash %x is there %d times, or %d", name, hash, count, changed.CountHash(hash))
				}
			}
			changed.AddHash(5)
		}
		again := orPanic(filter.MarshalBinary())
		if same := bytes.Equal(again, data); same == strings.Contains(name, "/other-") {
			t.Errorf("%s: the same when encoded again: %v", name, same)
		}
		if _ = changed.RemoveHash(5); !params.Unbounded && !changed.Equal(&filter) {
			t.Errorf("%s: another after it was changed and changed back", name)
		}
	})
}

// growingModel is how often each prefix is there.
type growingModel map[uint64]uint64

func (m growingModel) is(t *testing.T, what string, filter *GrowingFilter) {
	t.Helper()
	var before, keys, at uint64
	for prefix, count := range filter.Prefixes() {
		if m[prefix] != count || at > 0 && prefix <= before {
			t.Fatalf("%s: %d is there %d times, not %d", what, prefix, count, m[prefix])
		}
		before, keys, at = prefix, keys+count, at+1
	}
	if int(at) != len(m) || filter.KeyCount() != keys || filter.EstimatedKeys() != float64(len(m)) ||
		!near(filter.EstimatedRate(), float64(len(m))/float64(filter.Params().PrefixCount)) {
		t.Fatalf("%s: %v of %d prefixes", what, filter, len(m))
	}
	other := orPanic(NewGrowing(int(filter.Params().ExpectedKeys), filter.Params().Rate, WithSeed(filter.Params().Seed)))
	for prefix, count := range m {
		first, _ := filter.view.growing.Shape().Hashes(prefix)
		for range count {
			other.AddHash(first)
		}
	}
	if !other.Equal(filter) {
		t.Fatalf("%s: other bytes than a filter of the same prefixes", what)
	}
}

func TestGrowingSets(t *testing.T) {
	const keys = 20_000
	all := [][2]int{{0, 300}, {300, 9000}, {0, 0}, {300, 0}, {30_000, 20_000}}
	if testing.Short() {
		all = all[:2]
	}
	for _, sizes := range all {
		var filters [2]*GrowingFilter
		var models [2]growingModel
		for i, size := range sizes {
			filters[i], models[i] = orPanic(NewGrowing(keys, 0.01, WithSeed(9))), growingModel{}
			hashes := append(randomHashes(size/2, 1), randomHashes(size/2, uint64(i)+2)...)
			filters[i].AddHashes(hashes)
			if size > 0 {
				filters[i].AddHashes(slices.Repeat(hashes[:1], 20*i+5))
				hashes = append(hashes, slices.Repeat(hashes[:1], 20*i+5)...)
			}
			for _, hash := range hashes {
				models[i][definitionIndex(hash, filters[i].Params().PrefixCount)]++
			}
			models[i].is(t, "added", filters[i])
		}
		for what, do := range map[string]struct {
			of  func(*GrowingFilter, *GrowingFilter) error
			say func(a, b uint64) uint64
		}{
			"united":      {(*GrowingFilter).Union, func(a, b uint64) uint64 { return a + b }},
			"intersected": {(*GrowingFilter).Intersect, func(a, b uint64) uint64 { return min(a, b) }},
			"subtracted":  {(*GrowingFilter).Difference, func(a, b uint64) uint64 { return max(a, b) - b }},
		} {
			want, itself := growingModel{}, growingModel{}
			for _, model := range models {
				for prefix := range model {
					want[prefix] = do.say(models[0][prefix], models[1][prefix])
					itself[prefix] = do.say(models[0][prefix], models[0][prefix])
				}
			}
			isNone := func(_, count uint64) bool { return count == 0 }
			maps.DeleteFunc(want, isNone)
			maps.DeleteFunc(itself, isNone)
			filter := filters[0].Clone()
			view := filter.View()
			must(do.of(filter, filters[1]))
			want.is(t, what, filter)
			for _, hash := range randomHashes(200, 2) {
				if view.ContainsHash(hash) != filter.ContainsHash(hash) {
					t.Fatalf("%s: a view does not see it", what)
				}
			}
			filter = filters[0].Clone()
			must(do.of(filter, filter))
			itself.is(t, what+" with itself", filter)
			models[0].is(t, "before", filters[0])
		}
		for _, parts := range []int{0, 1, 3, 16, 50} {
			want := make([]growingModel, parts)
			for part := range want {
				want[part] = growingModel{}
			}
			for prefix, count := range models[1] {
				first, last := filters[1].view.growing.Shape().Hashes(prefix)
				for part := definitionIndex(first, uint64(parts)); parts > 0 && part <= definitionIndex(last, uint64(parts)); part++ {
					want[part][prefix] = count
				}
			}
			for part, filter := range orPanic(filters[1].Split(parts)) {
				want[part].is(t, fmt.Sprint("part ", part, " of ", parts), filter)
			}
		}
		frozen := orPanic(filters[1].Freeze(0.01))
		count := filters[1].Params().PrefixCount
		for prefix := range models[1] {
			first, last := filters[1].view.growing.Shape().Hashes(prefix)
			if !frozen.ContainsHash(FrozenHash(count, first)) || !frozen.ContainsHash(FrozenHash(count, last)) ||
				definitionIndex(first, count) != prefix || definitionIndex(last, count) != prefix ||
				first > 0 && definitionIndex(first-1, count) == prefix || last < math.MaxUint64 && definitionIndex(last+1, count) == prefix {
				t.Fatalf("prefix %d is not frozen", prefix)
			}
		}
		if wrong := frozen.ContainsHashes(randomHashes(10_000, 77), nil).Count(); frozen.KeyCount() != uint64(len(models[1])) || wrong > 300 {
			t.Errorf("%v: %d of 10,000 pass", frozen, wrong)
		}
	}
}

// However many keys come: none is lost, the rate is kept, and they can be removed.
func TestGrowingUnbounded(t *testing.T) {
	filter := orPanic(NewGrowingUnbounded(10, 0.02, WithSeed(9)))
	hashes := randomHashes(50_000, 4)
	if testing.Short() {
		hashes = hashes[:5000]
	}
	filter.AddHashes(hashes)
	read := new(GrowingFilter)
	must(read.UnmarshalBinary(orPanic(filter.MarshalBinary())))
	other := orPanic(NewGrowingUnbounded(10, 0.02, WithSeed(9)))
	other.AddHashes(randomHashes(100, 5))
	united, back := filter.Clone(), other.Clone()
	must(united.Union(other))
	must(back.Union(filter))
	for name, f := range map[string]*GrowingFilter{"itself": filter, "read": read, "united": united, "united, the other way": back} {
		hashes := hashes
		if strings.HasPrefix(name, "united") {
			hashes = slices.Concat(hashes, randomHashes(100, 5))
		}
		if f.ContainsHashes(hashes, nil).Count() != len(hashes) || f.KeyCount() != uint64(len(hashes)) {
			t.Fatalf("%s: keys are lost", name)
		}
		rate, wrong := f.EstimatedRate(), f.ContainsHashes(randomHashes(100_000, 6)[len(awkward):], nil).Count()
		if rate > 0.04 || math.Abs(float64(wrong)/1e5-rate) > 0.002 || !strings.HasPrefix(name, "united") && rate > 0.02 || !f.Params().Unbounded {
			t.Errorf("%s: rate %v, %d of 100,000 pass", name, rate, wrong)
		}
		keys := 0
		for _, part := range orPanic(f.Split(4)) {
			answers := part.ContainsHashes(hashes, nil)
			for i, hash := range hashes {
				if int(hash>>62) == keys && !answers.Has(i) {
					t.Fatalf("%s: %x is lost in its part", name, hash)
				}
			}
			keys++
		}
		for what, err := range map[string]error{
			"subtract": f.Difference(f), "freeze": second(f.Freeze(0.01)),
		} {
			if err != ErrUnbounded {
				t.Errorf("%s: %s: %v", name, what, err)
			}
		}
		if removed := f.RemoveHashes(hashes, nil).Count(); removed != len(hashes) || f.KeyCount() != 0 {
			t.Errorf("%s: %d of %d keys are removed", name, removed, len(hashes))
		}
	}
}

func TestGrowingErrors(t *testing.T) {
	for what, err := range map[string][2]error{
		"keys":      {second(NewGrowing(-1, 0.01)), ErrKeys},
		"first":     {second(NewGrowingUnbounded(-1, 0.01)), ErrKeys},
		"rate":      {second(NewGrowing(1, 1)), ErrRate},
		"no rate":   {second(NewGrowingUnbounded(1, math.NaN())), ErrRate},
		"small":     {second(NewGrowing(1, 1e-18)), ErrRateTooSmall},
		"smaller":   {second(NewGrowingUnbounded(1, 1e-17)), ErrRateTooSmall},
		"smallest":  {second(NewGrowingUnbounded(1, 5e-324)), ErrRateTooSmall},
		"option":    {second(NewGrowing(1, 0.1, func(*Params) error { return ErrK })), ErrK},
		"keys of":   {orPanic(NewGrowing(10, 0.01)).Union(orPanic(NewGrowing(1000, 0.01))), ErrMismatch},
		"seeds of":  {orPanic(NewGrowing(10, 0.01)).Union(orPanic(NewGrowing(10, 0.01, WithSeed(1)))), ErrMismatch},
		"bounds of": {orPanic(NewGrowing(10, 0.01)).Intersect(orPanic(NewGrowingUnbounded(10, 0.01))), ErrMismatch},
		"built":     {second(BuildGrowingHashes(nil, -1, 0.01)), ErrKeys},
		"built of":  {second(BuildGrowingUnboundedHashes(nil, 1, 1)), ErrRate},
		"zero":      {orPanic(NewGrowing(10, 0.01)).Difference(nil), ErrMismatch},
		"parts":     {second(new(GrowingFilter).Split(2)), ErrNoLines},
		"too small": {second(orPanic(NewGrowing(10, 0.01)).Freeze(1e-9)), ErrRateTooSmall},
	} {
		if !errors.Is(err[0], err[1]) {
			t.Errorf("%s: %v, want %v", what, err[0], err[1])
		}
	}
	if parts, err := orPanic(NewGrowing(10, 0.01)).Split(-1); len(parts) != 0 || err != nil {
		t.Error(parts, err)
	}
	// What was read is probed as it is, and changes when it has to.
	filter := orPanic(NewGrowing(1000, 0.01))
	filter.AddHashes(randomHashes(900, 1))
	read := new(GrowingFilter)
	must(read.UnmarshalBinary(orPanic(filter.MarshalBinary())))
	view, clone := read.View(), read.Clone()
	const hash = 0x1234567887654321
	if read.RemoveHash(hash) != ErrAbsent || !read.view.growing.IsRead() {
		t.Error("it is built anew for nothing")
	}
	read.AddHash(hash)
	if !view.ContainsHash(hash) || !read.ContainsHash(hash) || clone.ContainsHash(hash) || view.Fill() != read.Fill() || !clone.Equal(filter) {
		t.Error("a view does not see it, or a clone does")
	}
}

func TestGrowingReaders(t *testing.T) {
	hashes := randomHashes(3000, 3)
	filter := orPanic(NewGrowing(3000, 0.01))
	filter.AddHashes(hashes)
	readAtOnce(t, filter, hashes, filter.ContainsHash)
	must(filter.UnmarshalBinary(orPanic(filter.MarshalBinary())))
	readAtOnce(t, filter, hashes, filter.ContainsHash)
}

// FuzzGrowing: any bytes, as they are and with checksums that fit. The reader is right by the page, what it accepts
// can be changed, and is the same filter when it is changed back.
func FuzzGrowing(f *testing.F) {
	addGolden(f, "../golden/growing/*/*.bloomline")
	f.Fuzz(func(t *testing.T, data []byte, seed uint64) {
		hashes := randomHashes(70, seed)
		checkGrowing(t, data, hashes)
		if len(data) < footerBytes {
			return
		}
		data = bytes.Clone(data)
		footer := data[len(data)-footerBytes:]
		if count := le.Uint64(footer[format.AtLineCount:]); count <= uint64(len(data)-footerBytes)/lineBytes {
			le.PutUint64(footer[format.AtReserved:], checksum(data[count*lineBytes:len(data)-footerBytes]))
		}
		checkGrowing(t, repaired(data), hashes)
	})
}

func checkGrowing(t *testing.T, data []byte, hashes []uint64) {
	checkReader(t, data, hashes)
	var filter GrowingFilter
	if filter.UnmarshalBinary(data) != nil {
		return
	}
	before, keys := filter.Clone(), filter.KeyCount()
	for _, hash := range hashes {
		in := definitionAnswer(data, hash)
		if filter.ContainsHash(hash) != in || (filter.CountHash(hash) > 0) != in {
			t.Fatalf("hash %x: want %v", hash, in)
		}
	}
	filter.AddHashes(hashes)
	if filter.ContainsHashes(hashes, nil).Count() != len(hashes) || filter.KeyCount() != saturatingAdd(keys, uint64(len(hashes))) {
		t.Fatal("keys are lost")
	}
	var again GrowingFilter
	must(again.UnmarshalBinary(orPanic(filter.MarshalBinary())))
	for _, hash := range hashes {
		if again.RemoveHash(hash) != nil || filter.RemoveHash(hash) != nil {
			t.Fatalf("hash %x is not removed", hash)
		}
	}
	again.view.keyCount = keys // which may have been any
	if !filter.Params().Unbounded && !again.Equal(before) {
		t.Fatal("changed back, it is another")
	}
	for _, hash := range hashes {
		if before.ContainsHash(hash) && !(filter.ContainsHash(hash) && again.ContainsHash(hash)) {
			t.Fatalf("hash %x: removed once too often", hash)
		}
	}
}

// Bytes may state that a key is there almost 2^64 times. More such keys wrap no count, and a filter of them has
// bytes that readers take.
func TestGrowingCountsUpToTheHighest(t *testing.T) {
	hashes := randomHashes(100, 14)
	for _, make := range []func(int, float64, ...Option) (*GrowingFilter, error){NewGrowing, NewGrowingUnbounded} {
		filter := orPanic(make(1000, 0.01))
		filter.AddHashes(hashes)
		for range 20 {
			filter.AddHash(hashes[0])
		}
		data := orPanic(filter.MarshalBinary())
		body, footer, err := readFooter(data)
		if err != nil {
			t.Fatal(err)
		}
		// The count of the only further copy: it stands behind its prefix, before the records.
		copies := body[(footer.LineCount-1)*64:]
		if le.Uint64(copies[8:]) < 13 || le.Uint64(copies[16:]) != 0 {
			t.Fatalf("%x", copies[:64])
		}
		le.PutUint64(copies[8:], math.MaxUint64-300)
		le.PutUint64(data[len(data)-footerBytes+format.AtKeyCount:], math.MaxUint64-5)
		data = repaired(data)
		filter, other := new(GrowingFilter), new(GrowingFilter)
		if filter.UnmarshalBinary(data) != nil || other.UnmarshalBinary(data) != nil {
			t.Fatal("it is not read")
		}
		for range 400 {
			filter.AddHash(hashes[0])
			filter.AddHash(hashes[50])
		}
		if err := other.Union(other.Clone()); err != nil {
			t.Fatal(err)
		}
		for _, f := range []*GrowingFilter{filter, other} {
			if f.CountHash(hashes[0]) < math.MaxUint64-300 || f.CountHash(hashes[50]) < 2 || f.KeyCount() != math.MaxUint64 {
				t.Errorf("%v: %d, %d", f, f.CountHash(hashes[0]), f.CountHash(hashes[50]))
			}
			again := new(GrowingFilter)
			if err := again.UnmarshalBinary(orPanic(f.MarshalBinary())); err != nil {
				t.Errorf("%v, written: %v", f, err)
			} else if again.CountHash(hashes[0]) < 1<<60 || again.CountHash(hashes[50]) != f.CountHash(hashes[50]) {
				t.Errorf("%v, written: %d, %d", f, again.CountHash(hashes[0]), again.CountHash(hashes[50]))
			}
		}
	}
}

// Many keys of one region, and a few of others: its prefixes are far longer than theirs.
func TestGrowingRegionsOfVeryDifferentLengths(t *testing.T) {
	for _, shift := range []int{4, 7} {
		filter := orPanic(NewGrowingUnbounded(20, 0.01))
		early, late := randomHashes(40, 1), randomHashes(20_000, 2)
		filter.AddHashes(early)
		for i, hash := range late {
			late[i] = hash>>shift | 3<<60
		}
		filter.AddHashes(late)
		data, read := orPanic(filter.MarshalBinary()), new(GrowingFilter)
		if err := read.UnmarshalBinary(data); err != nil {
			t.Fatalf("shifted by %d: %v", shift, err)
		}
		for _, hash := range append(early, late...) {
			if !read.ContainsHash(hash) {
				t.Fatalf("shifted by %d: %x is lost", shift, hash)
			}
		}
		if !bytes.Equal(orPanic(read.MarshalBinary()), data) {
			t.Errorf("shifted by %d: written again, it is another", shift)
		}
	}
}

func TestViewsListPrefixes(t *testing.T) {
	filter := orPanic(NewGrowing(1000, 0.01))
	filter.AddHashes(randomHashes(500, 3))
	filter.AddHash(7)
	path := t.TempDir() + "/growing"
	if err := filter.Save(path); err != nil {
		t.Fatal(err)
	}
	mapped := orPanic(Open(path))
	defer mapped.Close()
	want := maps.Collect(filter.Prefixes())
	for _, of := range []iter.Seq2[uint64, uint64]{filter.View().Prefixes(), mapped.Prefixes(), mapped.View.Prefixes()} {
		if !maps.Equal(maps.Collect(of), want) || len(want) < 490 {
			t.Error("a view lists other prefixes")
		}
		for range of {
			break
		}
	}
	for range (View{}).Prefixes() {
		t.Error("the zero View has prefixes")
	}
}
