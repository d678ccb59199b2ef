package bloomline

import (
	"slices"
	"testing"
)

// groupMember is a view, and its answers by the definition.
type groupMember struct {
	view  View
	plain func(hash uint64) bool
}

// groupHashes are those that member i has.
func groupHashes(i, count int) []uint64 {
	hashes := make([]uint64, count)
	for key := range hashes {
		hashes[key] = HashUint64(uint64(key), uint64(i))
	}
	return hashes
}

func groupNative(t *testing.T, i int, count uint64, k int) groupMember {
	t.Helper()
	filter, lines := filterOf(t, count, k, groupHashes(i, int(min(count*40, 3000))))
	return groupMember{filter.View(), func(hash uint64) bool { return definitionContains(lines, k, hash) }}
}

// groupOther is a filter of another kind, which answers for itself: other tests hold it to the definition.
func groupOther(t *testing.T, i int) groupMember {
	t.Helper()
	var view View
	switch i % 6 {
	case 0:
		static := orPanic(BuildStaticHashes(groupHashes(i, 500), 0.01))
		view = static.View()
	case 1:
		classic := orPanic(NewWithParams(Params{LineCount: 7, K: 5, Classic: true}))
		classic.AddHashes(groupHashes(i, 200))
		view = classic.View()
	case 2:
		scalable := orPanic(NewScalable(32, 0.01))
		scalable.AddHashes(groupHashes(i, 200))
		view = scalable.View()
	case 3:
		window := orPanic(NewWindow(3, 100, 0.01))
		window.AddHashes(groupHashes(i, 100))
		window.Rotate()
		view = window.View()
	case 4:
		view = orPanic(BuildCascadeHashes(groupHashes(i, 100), randomHashes(500, 6), 0, 0, 1)).View()
	default:
		return groupMember{View{}, func(uint64) bool { return true }}
	}
	return groupMember{view, func(hash uint64) bool { return view.ContainsHash(hash) }}
}

func groupProbes() []uint64 {
	probes := append([]uint64(nil), awkward...)
	for i := range 200 {
		probes = append(probes, groupHashes(i, 1)...)
	}
	return append(probes, randomHashes(20, 7)...)
}

func checkGroup(t *testing.T, members []groupMember) {
	t.Helper()
	probes := groupProbes()
	// Behind them what few members have, and one that some do.
	hashes := slices.Concat(probes, randomHashes(1300, 99), probes[40:41])
	views, has := make([]View, len(members)), make([][]bool, len(members))
	for i, member := range members {
		views[i], has[i] = member.view, make([]bool, len(hashes))
		for j, hash := range hashes {
			has[i][j] = member.plain(hash)
		}
	}
	for _, n := range []int{0, 1, 2, 63, 64, 65, 128, len(members)} {
		if n > len(members) {
			continue
		}
		group := NewGroup(views[:n])
		if group.Len() != n {
			t.Fatalf("%d members: %d", n, group.Len())
		}
		words := (n + 63) / 64
		rows := group.ContainsHashes(probes, nil)
		answers := Bitmap{^uint64(0)}
		for j, hash := range probes {
			answers = group.ContainsHash(hash, answers)
			yes := 0
			for i := range n {
				want := has[i][j]
				if answers.Has(i) != want || rows.Has(64*words*j+i) != want {
					t.Fatalf("member %d of %d, hash %x: want %v", i, n, hash, want)
				}
				if want {
					yes++
				}
			}
			if len(answers) != words || answers.Count() != yes || rows[words*j:words*(j+1)].Count() != yes {
				t.Fatalf("%d members, hash %x: bits past the end", n, hash)
			}
		}
		checkManyOfGroup(t, group, hashes, len(probes), has[:n])
		numbers := make([]uint32, len(probes)-1)
		for j := range numbers {
			numbers[j] = uint32(j * 31 % (n + 1))
		}
		numbers[5] = ^uint32(0)
		pairs := group.ContainsPairs(numbers, probes, answers)
		for j := range probes {
			want := j >= len(numbers) || int64(numbers[j]) >= int64(n) || has[numbers[j]][j]
			if pairs.Has(j) != want {
				t.Fatalf("pair %d, %d members: want %v", j, n, want)
			}
		}
		wide, narrow := SelectPairs(group, numbers, probes, []uint32{7}), SelectPairs[uint16](group, numbers, probes, nil)
		at := 0
		for row := range pairs.All() {
			if at >= min(len(wide), len(narrow)) || int(wide[at]) != row || int(narrow[at]) != row {
				t.Fatalf("%d members: rows %v and %v, want those of %v", n, wide, narrow, pairs)
			}
			at++
		}
		if at != len(wide) || at != len(narrow) {
			t.Fatalf("%d members: %d and %d rows, want %d", n, len(wide), len(narrow), at)
		}
		// In no order, with repetitions.
		var any, left []uint32
		for i := range probes {
			for _, row := range []int{i * 7 % len(probes), i / 2} {
				any = append(any, uint32(row))
				if pairs.Has(row) {
					left = append(left, uint32(row))
				}
			}
		}
		if got := RefinePairs(group, numbers, probes, any); !slices.Equal(got, left) {
			t.Fatalf("%d members: refined %v, want %v", n, got, left)
		}
	}
}

// checkManyOfGroup holds the answers filter by filter, and those for any of many hashes, to the members'.
func checkManyOfGroup(t *testing.T, group *Group, hashes []uint64, probes int, has [][]bool) {
	t.Helper()
	for _, asked := range [][2]int{{0, 0}, {0, 1}, {1, 4}, {0, 5}, {3, 68}, {0, probes}, {probes, len(hashes)}, {probes, len(hashes) - 1}} {
		first, end := asked[0], asked[1]
		each := (end - first + 63) / 64
		rows := group.ContainsHashesByMember(hashes[first:end], Bitmap{^uint64(0)})
		some := group.ContainsAnyHash(hashes[first:end], Bitmap{^uint64(0)})
		total, maybe := 0, 0
		for i := range has {
			found := 0
			for j, want := range has[i][first:end] {
				if rows.Has(64*each*i+j) != want {
					t.Fatalf("filter %d of %d, hash %x: want %v", i, len(has), hashes[first+j], want)
				}
				if want {
					found++
				}
			}
			if some.Has(i) != (found > 0) {
				t.Fatalf("filter %d of %d has %d of %d hashes: %v", i, len(has), found, end-first, some.Has(i))
			}
			if found > 0 {
				maybe++
			}
			total += found
		}
		if len(rows) != each*len(has) || rows.Count() != total || some.Count() != maybe {
			t.Fatalf("%d filters, %d hashes: bits past the end", len(has), end-first)
		}
	}
}

func TestGroup(t *testing.T) {
	eachWay(t, func(t *testing.T) {
		count := func(i int) uint64 { return []uint64{1, 2, 3, 7, 64, 100, 999, 10000}[i%8] }
		for k := 1; k <= 16; k++ {
			if testing.Short() && k%5 != 1 {
				continue
			}
			members := make([]groupMember, 129)
			if k == 6 || k == 12 {
				members = make([]groupMember, 200)
			}
			for i := range members {
				members[i] = groupNative(t, i, count(i), k)
			}
			checkGroup(t, members)
		}
		members := make([]groupMember, 200)
		for i := range members {
			switch {
			case i%5 == 4:
				members[i] = groupOther(t, i)
			case i < 100:
				members[i] = groupNative(t, i, count(i), 5+i/40)
			default:
				members[i] = groupNative(t, i, count(i), 5+i%7)
			}
		}
		checkGroup(t, members)
	})
}

// Filters of several seeds, and another engine's: a key gets the answer of each, a hash none.
func TestGroupHashesDifferently(t *testing.T) {
	var views []View
	for i := range 70 {
		filter := orPanic(NewWithParams(Params{LineCount: 9, K: 6, Seed: uint64(i % 3)}))
		for key := i; key < 80; key += i + 1 {
			filter.AddUint64(uint64(key))
		}
		views = append(views, filter.View())
	}
	views = append(views, View{})
	group := NewGroup(views)
	var answers Bitmap
	for key := range uint64(160) {
		bytes := le.AppendUint64(nil, key)
		answers = group.Contains(bytes, answers)
		integer := group.ContainsUint64(key, nil)
		for i := range views {
			if answers.Has(i) != views[i].Contains(bytes) || answers.Has(i) != integer.Has(i) {
				t.Fatalf("key %d, view %d", key, i)
			}
		}
		if count := answers.Count(); count == 0 || count > 40 {
			t.Fatalf("key %d: %d", key, count)
		}
	}
	if group.ContainsString("none", nil).Count() > 5 {
		t.Error("a string is in many")
	}
	if n := group.ContainsHash(1, nil).Count(); n != 71 {
		t.Errorf("a hash of two seeds: %d of 71", n)
	}
	if n := group.ContainsHashes([]uint64{1, 2}, nil).Count(); n != 142 {
		t.Errorf("two hashes of two seeds: %d of 142", n)
	}
	if n := group.ContainsHashesByMember([]uint64{1, 2}, nil).Count(); n != 142 {
		t.Errorf("two hashes of two seeds, filter by filter: %d of 142", n)
	}
	if n := group.ContainsAnyHash([]uint64{1, 2}, nil).Count(); n != 71 {
		t.Errorf("any of two hashes of two seeds: %d of 71", n)
	}
}

// Filters that are probed alike are one run, in whatever order they come; columns are as many as each is there.
func TestGroupRuns(t *testing.T) {
	var views []View
	matrices := []*Matrix{filledMatrix(t, 2, 6, 3), filledMatrix(t, 2, 6, 70)}
	blocks := []View{{}, orPanic(OpenLevelDB(append(make([]byte, 8), 6)))}
	for i := range 600 {
		kind, seed := i%4, uint64(i%300)
		switch {
		case kind == 0:
			views = append(views, blocks[i/4%2])
		case kind == 1:
			views = append(views, orPanic(matrices[i/4%2].ColumnView(i/8%3)))
		default:
			views = append(views, orPanic(NewWithParams(Params{LineCount: 1, K: 4 + kind, Seed: seed})).View())
		}
	}
	// Blocks hash in two ways; of each matrix a column is there 25 times; half of 300 seeds, each with one k.
	group := NewGroup(views)
	if len(group.runs) != 2+2*25+150 {
		t.Errorf("%d runs", len(group.runs))
	}
	for key := range uint64(9) {
		answers := group.ContainsUint64(key, nil)
		for i := range views {
			if answers.Has(i) != views[i].ContainsUint64(key) {
				t.Fatalf("view %d, key %d: %v", i, key, answers.Has(i))
			}
		}
	}
}

// What is not there rules out nothing.
func TestGroupOfNothing(t *testing.T) {
	for _, group := range []*Group{nil, new(Group), NewGroup(nil)} {
		if group.Len() != 0 || len(group.ContainsHash(1, Bitmap{1, 2})) != 0 || len(group.Contains(nil, nil)) != 0 {
			t.Error("answers of no filters")
		}
		if len(group.ContainsHashes([]uint64{1}, nil)) != 0 {
			t.Error("rows of no filters")
		}
		if len(group.ContainsHashesByMember([]uint64{1}, nil)) != 0 || len(group.ContainsAnyHash([]uint64{1}, nil)) != 0 {
			t.Error("answers of no filters")
		}
		if got := group.ContainsPairs([]uint32{0}, []uint64{1, 2}, nil); got.Count() != 2 {
			t.Errorf("pairs of no filters: %v", got)
		}
		if rows := SelectPairs[uint32](group, []uint32{0}, []uint64{1, 2}, nil); len(rows) != 2 || rows[1] != 1 {
			t.Errorf("rows of no filters: %v", rows)
		}
		rows := []uint16{1, 2}
		mustPanic(t, "a row without a hash", func() { RefinePairs(group, nil, []uint64{1, 2}, rows) })
		if rows[1] != 2 || len(RefinePairs(group, nil, []uint64{1, 2}, rows[:1])) != 1 {
			t.Errorf("refined by no filters: %v", rows)
		}
	}
	filter := mustNew(t, 10, 0.01)
	views := []View{filter.View()}
	group := NewGroup(views)
	views[0] = View{}
	if group.ContainsHash(1, nil).Count() != 0 {
		t.Error("the views are not copied")
	}
	filter.AddHash(1)
	if group.ContainsHash(1, nil).Count() != 1 {
		t.Error("a later key is not seen")
	}
	answers, rows := make(Bitmap, 1), make([]uint32, 1)
	if n := testing.AllocsPerRun(10, func() {
		answers = group.ContainsHash(1, answers)
		answers = group.ContainsPairs([]uint32{0}, []uint64{1}, answers)
		rows = SelectPairs(group, []uint32{0}, []uint64{1}, rows)
		rows = RefinePairs(group, []uint32{0}, []uint64{1}, rows)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
