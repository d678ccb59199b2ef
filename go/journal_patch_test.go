package bloomline

// Patches: which filters they fit, whatever changed in them. And the numbers of records.

import (
	"bytes"
	"errors"
	"io"
	"testing"
)

// unsaidChanges are those that no record of changes has.
func unsaidChanges() map[string]func(*GrowingFilter) {
	other := withPear()
	return map[string]func(*GrowingFilter){
		"clear":      (*GrowingFilter).Clear,
		"union":      func(f *GrowingFilter) { orPanic(0, f.Union(other)) },
		"intersect":  func(f *GrowingFilter) { orPanic(0, f.Intersect(other)) },
		"difference": func(f *GrowingFilter) { orPanic(0, f.Difference(other)) },
		"many":       func(f *GrowingFilter) { f.AddHashes(randomHashes(9000, 3)) },
	}
}

func withPear() *GrowingFilter {
	filter := orPanic(NewGrowing(900, 0.01, WithSeed(0)))
	filter.AddString("pear")
	return filter
}

// Also if the record is a whole filter, since more changed than is kept.
func TestNumbersAscendWhateverChanges(t *testing.T) {
	for name, change := range unsaidChanges() {
		filter, journal := withPear(), new(bytes.Buffer)
		orPanic(0, filter.SaveWhole(journal, 5))
		change(filter)
		for _, sequence := range []uint64{0, 5} {
			if err := filter.SaveChanged(io.Discard, sequence); !errors.Is(err, ErrSequence) {
				t.Error(name, err)
			}
		}
		if saved, ok := filter.SavedSequence(); saved != 0 || ok {
			t.Error(name, saved)
		}
		if err := filter.SaveChanged(journal, 6); err != nil {
			t.Fatal(name, err)
		}
		read, err := ReplayJournal(journal)
		if err != nil || read.Sequence != 6 || !read.Filter.Equal(filter) {
			t.Error(name, err)
		}
	}
}

// A whole filter takes the place of one that has nothing of its own, and of no other.
func TestPatchesDropNoKeysOfTheFiltersOwn(t *testing.T) {
	published, journal, patch := withPear(), new(bytes.Buffer), new(bytes.Buffer)
	orPanic(0, published.SaveWhole(journal, 1))
	published.AddString("plum")
	orPanic(0, published.SaveWhole(patch, 2))
	first := func() *GrowingFilter { return orPanic(ReplayJournal(bytes.NewReader(journal.Bytes()))).Filter }
	refused := func(name string, filter *GrowingFilter) {
		t.Helper()
		before := filter.Clone()
		if _, err := filter.ApplyPatch(patch.Bytes()); !errors.Is(err, ErrSequence) || !filter.Equal(before) {
			t.Error(name, err)
		}
	}
	for name, change := range unsaidChanges() {
		replica := first()
		replica.AddString("apple")
		refused(name, replica)
		change(replica)
		refused(name, replica)
	}
	// What was never saved.
	refused("own", withPear())
	for _, replica := range []*GrowingFilter{first(), orPanic(NewGrowing(900, 0.01, WithSeed(0)))} {
		if sequence, err := replica.ApplyPatch(patch.Bytes()); err != nil || sequence != 2 || !replica.Equal(published) {
			t.Error(sequence, err)
		}
	}
}
