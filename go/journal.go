package bloomline

// Growing filters in journals: what changed since a record, as a record; what records make of a filter.

import (
	"fmt"
	"io"
	"slices"

	"github.com/bloomline/bloomline/go/internal/growing"
)

// leastChanges is how many changes are kept at least, beside an eighth of the keys. With more, a whole filter is saved.
const leastChanges = 4096

// growingChanges are the hashes that were added and removed since a filter was saved.
type growingChanges struct {
	point          growing.Point // the last record
	saved          bool          // there is one
	most           int           // so many are kept; 0 if none are: there is no record, or not all that changed is known
	added, removed []uint64
}

func changesSince(point growing.Point, keys uint64) growingChanges {
	return growingChanges{point: point, saved: true, most: int(min(keys/8, 1<<30)) + leastChanges}
}

func (c *growingChanges) add(hashes ...uint64) {
	if c.most > 0 {
		c.keep(&c.added, hashes)
	}
}

func (c *growingChanges) remove(hash uint64) {
	if c.most > 0 {
		c.keep(&c.removed, []uint64{hash})
	}
}

// keep forgets all where there are too many: then a whole filter is saved.
func (c *growingChanges) keep(list *[]uint64, hashes []uint64) {
	if c.count()+len(hashes) > c.most {
		c.forget()
		return
	}
	*list = append(*list, hashes...)
}

// forget says that something changed which is not known.
func (c *growingChanges) forget() { *c = growingChanges{point: c.point, saved: c.saved} }

func (c *growingChanges) count() int { return len(c.added) + len(c.removed) }

func (c *growingChanges) memory() int { return 8 * (cap(c.added) + cap(c.removed)) }

// ---- writing ----

// SaveWhole writes the whole filter as the first record of a journal. From here on the filter keeps the hashes of keys
// that are added and removed, for [GrowingFilter.SaveChanged].
//
// sequence is a number of yours: of a block, of a log record. It says up to where the filter has your data, and
// [ReplayJournal] returns it. [Journal] keeps a journal in a file.
//
// Errors: those of to; [ErrOutOfMemory]; [ErrNoLines] for the zero GrowingFilter. The filter is unchanged; some bytes
// may have been written.
func (f *GrowingFilter) SaveWhole(to io.Writer, sequence uint64) error {
	return f.saveWhole(to, sequence, flushed)
}

// SaveChanged writes what changed since the last record of this filter as one more record: the prefixes of keys that
// were added and removed, some 20 bits for each if 1 of 1,000 keys changed at 1 %, and 88 bytes. The higher
// sequence says up to where the filter has your data.
//
// It writes the whole filter instead if it does not know what changed: if it was not saved or replayed before, if it
// was united, intersected, subtracted from or cleared since, or if more changed than an eighth of its keys plus 4,096.
// Until then it keeps 8 bytes for each change.
//
// Once it has returned, flush the file to the disk, then acknowledge sequence. After an error cut the journal off where
// the record began, and try again: the changes are still there. [Journal] does both.
//
// Errors: [ErrSequence] if sequence is not above that of the last record; those of [GrowingFilter.SaveWhole]. The
// filter is unchanged; some bytes may have been written.
func (f *GrowingFilter) SaveChanged(to io.Writer, sequence uint64) error {
	return f.saveChanged(to, sequence, flushed)
}

// SavedSequence returns the sequence number of the record that the filter was last saved, replayed or patched by. It
// reports false if there is none, or if the filter does not know what changed since.
func (f *GrowingFilter) SavedSequence() (uint64, bool) {
	if c := &orZero(f).changes; c.most > 0 {
		return c.point.Sequence, true
	}
	return 0, false
}

// flushed flushes what needs none.
func flushed() error { return nil }

func (f *GrowingFilter) saveWhole(to io.Writer, sequence uint64, flush func() error) error {
	record := orZero(f).whole(sequence)
	_, err := record.WriteTo(to)
	if err == nil {
		err = flush()
	}
	if err == nil {
		f.isSaved(record.point)
	}
	return err
}

func (f *GrowingFilter) saveChanged(to io.Writer, sequence uint64, flush func() error) error {
	c := &orZero(f).changes
	if last := c.point.Sequence; c.saved && sequence <= last {
		return noSequence(sequence, last)
	}
	if c.most == 0 {
		return f.saveWhole(to, sequence, flush)
	}
	changes, err := f.changed()
	if err != nil {
		return err
	}
	all := f.view.growing.Shape().LongestCount()
	size := growing.HeaderBytes + changes.EncodedLen(all)
	if err := room(size); err != nil {
		return err
	}
	record := changes.Append(make([]byte, growing.HeaderBytes, size), all)
	content, base := record[growing.HeaderBytes:], f.changes.point
	header := growing.Header{
		Changes: true, Len: uint64(len(content)), Sequence: sequence,
		Base: base.ID, Origin: base.Origin, ContentChecksum: checksum(content),
	}
	point := header.Seal(record)
	if _, err := to.Write(record); err != nil {
		return err
	}
	if err := flush(); err != nil {
		return err
	}
	f.isSaved(point)
	return nil
}

// changed is what changed, without what was added and removed.
func (f *GrowingFilter) changed() (*growing.Changes, error) {
	shape, changes := f.view.growing.Shape(), &growing.Changes{KeyCount: f.view.keyCount}
	sorted := func(hashes []uint64) ([]uint64, error) {
		all, err := newSlice[uint64](len(hashes))
		for i, hash := range hashes[:len(all)] {
			all[i] = shape.Longest(hash)
		}
		slices.Sort(all)
		return all, err
	}
	var err error
	if changes.Added, err = sorted(f.changes.added); err != nil {
		return nil, err
	}
	if changes.Removed, err = sorted(f.changes.removed); err != nil {
		return nil, err
	}
	changes.Cancel()
	return changes, nil
}

// isSaved says that what changes from here on is what changed since this record.
func (f *GrowingFilter) isSaved(point growing.Point) {
	fresh := changesSince(point, f.view.keyCount)
	fresh.added, fresh.removed = f.changes.added[:0], f.changes.removed[:0]
	f.changes = fresh
}

// wholeRecord is a record of a whole filter, to be written.
type wholeRecord struct {
	header  [growing.HeaderBytes]byte
	content encoded
	point   growing.Point
}

func (f *GrowingFilter) whole(sequence uint64) *wholeRecord {
	record := &wholeRecord{content: f.encoded()}
	header := growing.Header{
		Len: uint64(record.content.len()), Sequence: sequence, ContentChecksum: checksumOf(record.content.pieces),
	}
	record.point = header.Seal(record.header[:])
	return record
}

func (r *wholeRecord) len() int64 { return growing.HeaderBytes + int64(r.content.len()) }

func (r *wholeRecord) WriteTo(to io.Writer) (int64, error) {
	if r.content.err != nil {
		return 0, r.content.err
	}
	n, err := to.Write(r.header[:])
	if err != nil {
		return int64(n), err
	}
	written, err := r.content.writeTo(to)
	return int64(n) + written, err
}

// ---- reading ----

// Replayed is what a journal says: see [ReplayJournal].
type Replayed struct {
	// Filter is the filter at the last whole record.
	Filter *GrowingFilter
	// Sequence is the sequence number of that record.
	Sequence uint64
	// Len is how many bytes the whole records take. Cut the journal off there before you write to it again.
	Len int64
	// Torn is whether more followed: a record that was not written to its end.
	Torn bool
}

// ReplayJournal reads a journal to its end: the filter at the last whole record, and its sequence number. A record
// that was not written to its end is left out, and so are records that are there twice. Damage is not taken for the
// end: if a record follows it, that is an error.
//
// The filter has the keys that the one saved had. A bounded one has the same bytes. The prefixes of an unbounded one
// may be longer or shorter. It takes the time of reading the whole filter and of adding what changed. Memory grows
// with what arrives.
//
// Errors: [ErrTruncated] if there is no whole record; [ErrNotAFilter] if it does not begin as a journal;
// [ErrVersion]; [ErrChecksum] if bytes were altered; [ErrReserved]; [ErrSequence] if a record does not follow on the
// one before; [ErrOutOfMemory]; those of from and of [GrowingFilter.UnmarshalBinary].
func ReplayJournal(from io.Reader) (*Replayed, error) {
	filter, all := new(GrowingFilter), &Replayed{}
	var seen []growing.Point // ascending
	for {
		header, point, content, left, err := readJournalRecord(from)
		switch {
		case err == io.EOF && all.Len > 0:
			all.Filter = filter
			return all, nil
		case err == io.EOF:
			return nil, ErrTruncated
		case (err == ErrTruncated || err == ErrNotAFilter) && all.Len == 0:
			return nil, err // no journal, or one of nothing
		case err == ErrTruncated:
			all.Filter, all.Torn = filter, true
			return all, nil
		case err == ErrNotAFilter || err == ErrChecksum:
			// The last record, half written? Then no other follows.
			more, err := readUpTo(from, maxLen-1)
			if err != nil {
				return nil, err
			}
			if all.Len == 0 || growing.HasRecord(append(left, more...)) {
				return nil, ErrChecksum
			}
			all.Filter, all.Torn = filter, true
			return all, nil
		case err != nil:
			return nil, err
		}
		all.Len += growing.HeaderBytes + int64(len(content))
		at, _ := slices.BinarySearchFunc(seen, point.Sequence, func(p growing.Point, sequence uint64) int {
			if p.Sequence < sequence {
				return -1
			}
			return 1
		})
		if at < len(seen) {
			if seen[at].Sequence == point.Sequence && seen[at].ID == point.ID {
				continue
			}
			return nil, noSequence(point.Sequence, all.Sequence)
		}
		if err := filter.take(header, point, content, false); err != nil {
			return nil, err
		}
		seen, all.Sequence = append(seen, point), point.Sequence
	}
}

// readJournalRecord reads a record. With an error left is what follows the first 8 bytes of its header, as far as it was
// read. Nothing left to read is [io.EOF].
func readJournalRecord(from io.Reader) (header growing.Header, point growing.Point, content, left []byte, err error) {
	first, err := readUpTo(from, growing.HeaderBytes)
	if err == nil && len(first) == 0 {
		err = io.EOF
	}
	if err == nil && len(first) < growing.HeaderBytes {
		err = ErrTruncated
	}
	if err != nil {
		return header, point, nil, nil, err
	}
	left = first[8:]
	if header, point, err = growing.ReadHeader(first); err != nil {
		return header, point, nil, left, err
	}
	if content, err = readUpTo(from, int(min(header.Len, maxLen))); err != nil {
		return header, point, nil, nil, err
	}
	switch {
	case uint64(len(content)) < header.Len:
		err = ErrTruncated
	case !header.Matches(content):
		left, err = append(left, content...), ErrChecksum
	}
	return header, point, content, left, err
}

// PatchSince returns the records of a journal that make a filter of sequence what the last record says: its bytes from
// there on. They are a patch: see [GrowingFilter.ApplyPatch]. If a whole filter was saved since, they begin with
// the last such one. A filter that is up to date needs none. It reads the headers of all records, not what they hold.
//
// Errors: [ErrSequence] if no record has this number, and the journal begins later; those of [ReplayJournal], of which
// [ErrTruncated] also for a record that was not written to its end.
func PatchSince(journal []byte, sequence uint64) ([]byte, error) {
	var patch []byte
	found, last := false, uint64(0)
	for rest, first := journal, true; len(rest) > 0; first = false {
		header, _, _, after, err := growing.FirstRecord(rest)
		if err != nil {
			return nil, err
		}
		if !first && header.Sequence <= last { // A record that is there twice.
			if found && len(patch) == len(rest) {
				patch = after
			}
			rest = after
			continue
		}
		if !header.Changes && header.Sequence > sequence {
			patch, found = rest, true
		} else if header.Sequence == sequence {
			patch, found = after, true
		}
		rest, last = after, header.Sequence
	}
	if !found {
		return nil, noSequence(sequence, last)
	}
	return patch, nil
}

// ApplyPatch makes the filter what it is with these records: those that [GrowingFilter.SaveChanged] wrote, one or
// several. It returns the sequence number of the last one. Those that it has are skipped.
//
// The filter comes from [ReplayJournal] or [OpenJournal], or was patched before, and has not changed by itself or been
// saved since. To keep it on the disk, too, use [Journal.ApplyPatch]. It takes the time of adding and removing what
// changed. A patch that begins with a whole filter also fits an empty filter that was never saved.
//
// Errors: [ErrSequence] if a record does not follow on what the filter has, or the filter has changed by itself;
// [ErrMismatch] if a whole filter in it has
// another seed: [ReplayJournal] of the patch returns that one; those of [ReplayJournal], of which
// [ErrTruncated] for a record that is not all there. The records before the one that is wrong are applied, and
// [GrowingFilter.SavedSequence] says which.
func (f *GrowingFilter) ApplyPatch(patch []byte) (uint64, error) {
	mustBeThere(f)
	for len(patch) > 0 {
		header, point, content, rest, err := firstOfPatch(patch)
		if err == nil {
			err = f.take(header, point, content, true)
		}
		if err != nil {
			return 0, err
		}
		patch = rest
	}
	sequence, ok := f.SavedSequence()
	if !ok {
		return 0, noSequence(0, 0)
	}
	return sequence, nil
}

func noSequence(given, last uint64) error {
	return fmt.Errorf("%w: %d after %d", ErrSequence, given, last)
}
