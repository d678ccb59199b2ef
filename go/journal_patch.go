package bloomline

// What records of a journal make of a growing filter: which of them follow on it, and what they change.

import (
	"fmt"

	"github.com/bloomline/bloomline/go/internal/growing"
)

// firstOfPatch is the first record of a patch, and its content is what was written.
func firstOfPatch(patch []byte) (header growing.Header, point growing.Point, content, rest []byte, err error) {
	header, point, content, rest, err = growing.FirstRecord(patch)
	if err == nil && !header.Matches(content) {
		err = ErrChecksum
	}
	return header, point, content, rest, err
}

// take makes the filter what it is with a record. One that it has changes nothing. Views may keep the seed: then that of
// a whole filter is to be the same.
func (f *GrowingFilter) take(header growing.Header, point growing.Point, content []byte, keepsSeed bool) error {
	at := f.stand(keepsSeed)
	step, err := at.next(header, point, content)
	if err != nil || step == nil {
		return err
	}
	return f.make(step, keepsSeed)
}

// lacking returns the records of a patch that the filter lacks, without those that a whole filter behind them makes
// void. Each follows on the one before, and its content is read: making them fails for want of memory only.
func (f *GrowingFilter) lacking(patch []byte) (all []*journalStep, err error) {
	at := f.stand(true)
	for len(patch) > 0 {
		header, point, content, rest, err := firstOfPatch(patch)
		if err != nil {
			return nil, err
		}
		step, err := at.next(header, point, content)
		if err != nil {
			return nil, err
		}
		if step != nil {
			if step.whole != nil {
				all, at.longest = all[:0], step.whole.view.growing.Shape().LongestCount()
			}
			at.point, at.saved, at.known, at.clean = point, true, true, true
			step.record = patch[:len(patch)-len(rest)]
			all = append(all, step)
		}
		patch = rest
	}
	return all, nil
}

// journalStand is where a filter stands: what says which records follow on it.
type journalStand struct {
	point        growing.Point // the last record
	saved, known bool          // there is one; and the filter is as it, but for changes that are known
	clean        bool          // it has nothing that no record has
	keepsSeed    bool
	seed         uint64
	longest      uint64 // how many prefixes of the longest length there are
}

func (f *GrowingFilter) stand(keepsSeed bool) journalStand {
	c := &f.changes
	at := journalStand{point: c.point, saved: c.saved, known: c.most > 0}
	at.clean = at.known && c.count() == 0 || !at.saved && f.view.keyCount == 0
	if f.view.growing != nil {
		at.keepsSeed, at.seed, at.longest = keepsSeed, f.view.seed, f.view.growing.Shape().LongestCount()
	}
	return at
}

// journalStep is what a record makes of the filter that it follows on.
type journalStep struct {
	point   growing.Point
	record  []byte // its bytes, in a patch
	whole   *GrowingFilter
	changes *growing.Changes // if it is not of a whole one
}

// next is what a record changes; nil if the filter has it.
func (at *journalStand) next(header growing.Header, point growing.Point, content []byte) (*journalStep, error) {
	own := at.point
	if at.known && (point == own || header.Sequence < own.Sequence && point.Origin == own.Origin) {
		return nil, nil
	}
	if !at.clean || at.known && header.Sequence <= own.Sequence {
		return nil, noSequence(header.Sequence, own.Sequence)
	}
	step := &journalStep{point: point}
	if !header.Changes {
		step.whole = new(GrowingFilter)
		if err := unmarshal(content, step.whole, false); err != nil {
			return nil, err
		}
		if at.keepsSeed && step.whole.view.seed != at.seed {
			return nil, fmt.Errorf("%w: the seeds of the filter and of the patch", ErrMismatch)
		}
		return step, nil
	}
	if !at.known || own.ID != header.Base || own.Origin != header.Origin {
		return nil, noSequence(header.Sequence, own.Sequence)
	}
	var err error
	step.changes, err = growing.ReadChanges(content, at.longest, newSlice[uint64])
	return step, err
}

// make makes the filter what a record makes of it. Views may lead to it.
//
// Errors: [ErrOutOfMemory], of changes only.
func (f *GrowingFilter) make(step *journalStep, hasViews bool) error {
	if step.whole != nil {
		seen := f.view.growing
		f.growingData = step.whole.growingData
		if hasViews && seen != nil {
			*seen = *f.view.growing
			f.view.growing = seen
		}
		f.isSaved(step.point)
		return nil
	}
	if f.view.growing.IsRead() {
		err := room(2 * f.memory())
		if err == nil {
			err = built(func() { f.view.growing.Tree() })
		}
		if err != nil {
			return err
		}
	}
	shape, tree := f.view.growing.Shape(), f.view.growing.Tree()
	for _, prefix := range step.changes.Added {
		tree.Insert(shape.HashOfLongest(prefix))
	}
	for _, prefix := range step.changes.Removed {
		// What is absent was not added, and its removal took another key's prefix.
		tree.Remove(shape.HashOfLongest(prefix))
	}
	f.view.keyCount = step.changes.KeyCount
	f.isSaved(step.point)
	return nil
}
