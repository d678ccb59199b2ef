package bloomline

// Views of filters that are made of others answer and measure as the filters do.

import (
	"fmt"
	"slices"
	"testing"
)

// wholes are filters that are made of others, with these keys, and without others.
func wholes(t *testing.T, hashes, others []uint64) map[string]anyKind {
	t.Helper()
	scalable, window := orPanic(NewScalable(32, 0.01, WithSeed(9))), orPanic(NewWindow(3, 400, 0.01, WithSeed(9)))
	scalable.AddHashes(hashes)
	for i, hash := range hashes {
		if i == 300 || i == 600 {
			window.Rotate()
		}
		window.AddHash(hash)
	}
	return map[string]anyKind{"scalable": scalable, "window": window,
		"cascade": orPanic(BuildCascadeHashes(hashes, others, 0, 9, 1))}
}

func TestViewsOfWholes(t *testing.T) {
	eachWay(t, func(t *testing.T) {
		hashes, others := randomHashes(900, 8), randomHashes(3000, 9)[len(awkward):]
		plain := orPanic(New(900, 0.01, WithSeed(9)))
		plain.AddHashes(hashes)
		views, filters := []View{plain.View()}, []Prober{plain}
		asked := slices.Concat(hashes[:500], others[:700], awkward)
		for name, filter := range wholes(t, hashes, others) {
			view := filter.(interface{ View() View }).View()
			views, filters = append(views, view), append(filters, filter)
			for _, n := range []int{0, 1, 15, 16, 63, 64, 65, 511, 512, 513, len(asked)} {
				if want, got := filter.ContainsHashes(asked[:n], nil), view.ContainsHashes(asked[:n], nil); !slices.Equal(want, got) {
					t.Errorf("%s: %v, want %v", name, got, want)
				}
			}
			for i, hash := range asked {
				key := fmt.Sprint(i)
				if view.ContainsHash(hash) != filter.ContainsHash(hash) || view.ContainsString(key) != filter.ContainsString(key) {
					t.Errorf("%s: another answer for %x or %q", name, hash, key)
				}
			}
			if _, hasShape := view.Params(); hasShape || view.Hash([]byte("key")) != filter.Hash([]byte("key")) {
				t.Errorf("%s: %v", name, view)
			}
			if want := fmt.Sprintf("bloomline.View{%v}", filter); view.String() != want {
				t.Errorf("%v, want %s", view, want)
			}
		}
		group := NewGroup(views)
		var answers Bitmap
		for _, hash := range asked {
			answers = group.ContainsHash(hash, answers)
			for i, filter := range filters {
				if answers.Has(i) != filter.ContainsHash(hash) {
					t.Fatalf("member %v, hash %x", filter, hash)
				}
			}
		}
		for i := range 300 {
			key := fmt.Sprint("key ", i)
			each := ViewsContain(views, []byte(key), nil)
			answers = group.ContainsString(key, answers)
			for i, filter := range filters {
				if answers.Has(i) != filter.ContainsString(key) || each.Has(i) != answers.Has(i) {
					t.Fatalf("member %v, key %q", filter, key)
				}
			}
		}
		room, keys := make(Bitmap, 30), [][]byte{[]byte("a"), []byte("b")}
		for _, view := range views {
			if n := testing.AllocsPerRun(50, func() {
				view.ContainsHashes(asked, room)
				view.ContainsBatch(keys, room)
				view.Contains(keys[0])
				group.ContainsHash(asked[0], room)
			}); n != 0 {
				t.Errorf("%v: %v allocations", view, n)
			}
		}
	})
}

func TestViewsMeasureWholes(t *testing.T) {
	hashes := randomHashes(900, 8)
	filters := wholes(t, hashes, randomHashes(3000, 9)[len(awkward):])
	for name, filter := range filters {
		view := filter.(interface{ View() View }).View()
		if keys := view.EstimatedKeys(); keys < 840 || keys > 960 || view.KeyCount() < 890 || view.KeyCount() > 900 {
			t.Errorf("%s: about %v keys, %d counted", name, keys, view.KeyCount())
		}
		if of, ok := filter.(measured); ok {
			if view.Fill() != of.Fill() || view.EstimatedRate() != of.EstimatedRate() || view.WorstLineRate() != of.WorstLineRate() || view.Fill() == 0 {
				t.Errorf("%s: %v %v %v", name, view.Fill(), view.EstimatedRate(), view.WorstLineRate())
			}
		}
	}
	cascade := filters["cascade"].(*Cascade)
	if view := cascade.View(); view.Fill() != 0 || view.EstimatedRate() != cascade.UnknownRate() || view.WorstLineRate() != cascade.UnknownRate() {
		t.Error(view, view.EstimatedRate())
	}
}

// A view sees what is added later, also in new stages, and what expires. That of nothing answers true.
func TestViewsOfWholesSeeChanges(t *testing.T) {
	scalable, window := orPanic(NewScalable(32, 0.01)), orPanic(NewWindow(2, 100, 0.01))
	ofScalable, ofWindow := scalable.View(), window.View()
	hashes := randomHashes(2000, 3)
	for _, hash := range hashes {
		scalable.AddHash(hash)
		window.AddHash(hash)
		if !ofScalable.ContainsHash(hash) || !ofWindow.ContainsHash(hash) {
			t.Fatalf("no %x", hash)
		}
	}
	window.Rotate()
	window.Rotate()
	if ofWindow.ContainsHash(hashes[0]) || ofWindow.Fill() != 0 || ofScalable.ContainsHashes(hashes, nil).Count() != len(hashes) {
		t.Error(ofScalable, ofWindow)
	}
	for _, view := range []View{
		(*ScalableFilter)(nil).View(), (*Window)(nil).View(), (*Cascade)(nil).View(),
		new(ScalableFilter).View(), new(Window).View(), new(Cascade).View(),
	} {
		if !view.ContainsString("apple") || view.ContainsHashes(hashes, nil).Count() != len(hashes) || view.EstimatedRate() != 1 {
			t.Error(view)
		}
	}
}
