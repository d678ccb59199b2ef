package bloomline

// Journals: what is read and refused, by the golden files and by a plain reader of the page; what is written, byte for
// byte. journal_file_test.go has files.

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"math/big"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// plainRecord is a record by the page, its bits read one by one.
type plainRecord struct {
	data     []byte // all of it
	sequence uint64
	whole    []byte // the encoded filter, of kind 1
	keys     uint64 // of kind 2
	lists    [2][]uint64
	all      uint64 // the longest prefixes of its filter
}

// plainRecords takes a valid journal apart.
func plainRecords(data []byte) (records []plainRecord) {
	all := uint64(0)
	for len(data) >= 64 && uint64(len(data)-64) >= le.Uint64(data[16:]) {
		size := 64 + le.Uint64(data[16:])
		r := plainRecord{data: data[:size], sequence: le.Uint64(data[24:])}
		content := data[64:size]
		data = data[size:]
		if r.data[10] == 1 {
			r.whole = content
			record := content[len(content)-128:]
			all = le.Uint64(record) << max(int(le.Uint32(record[40:]))-1, 0)
		} else {
			r.keys = le.Uint64(content)
			at := 24 * 8
			bit := func() uint64 { at++; return uint64(content[(at-1)/8]>>((at-1)%8)) & 1 }
			for i := range r.lists {
				count, width, last := le.Uint64(content[8+8*i:]), 0, uint64(0)
				for all/max(count, 1)>>(width+1) > 0 {
					width++
				}
				for range count {
					gap := uint64(0)
					for bit() == 0 {
						gap++
					}
					gap <<= width
					for j := range width {
						gap += bit() << j
					}
					last += gap
					r.lists[i] = append(r.lists[i], last)
				}
			}
		}
		r.all = all
		records = append(records, r)
	}
	return records
}

// hashOf is the first hash of a prefix.
func hashOf(prefix, all uint64) uint64 {
	n := new(big.Int).Lsh(new(big.Int).SetUint64(prefix), 64)
	n.Add(n, new(big.Int).SetUint64(all-1))
	return n.Div(n, new(big.Int).SetUint64(all)).Uint64()
}

func goldenJournals(t testing.TB, each func(name string, data []byte, numbers []uint64, want error)) {
	manifest, err := os.ReadFile("../golden/journal/MANIFEST")
	if err != nil {
		t.Fatal(err)
	}
	statuses := map[string]error{
		"11": ErrTruncated, "12": ErrNotAFilter, "13": ErrVersion, "15": ErrChecksum, "16": ErrReserved, "37": ErrSequence,
	}
	lines := strings.Split(strings.TrimSpace(string(manifest)), "\n")
	if len(lines) < 30 {
		t.Fatalf("%d journals", len(lines))
	}
	for _, line := range lines {
		words := strings.Fields(line)
		data, err := os.ReadFile("../golden/journal/" + words[1])
		if err != nil {
			t.Fatal(err)
		}
		var numbers []uint64
		for _, word := range words[2:] {
			number, err := strconv.ParseUint(word, 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			numbers = append(numbers, number)
		}
		if words[0] == "accepted" {
			each(words[1], data, numbers, nil)
		} else if want := statuses[words[2]]; want == nil {
			t.Fatal(line)
		} else {
			each(words[1], data, nil, want)
		}
	}
}

func TestGoldenJournals(t *testing.T) {
	goldenJournals(t, func(name string, data []byte, numbers []uint64, want error) {
		read, err := ReplayJournal(bytes.NewReader(data))
		if !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", name, err, want)
		}
		slowly, again := ReplayJournal(oneByte{bytes.NewReader(data)})
		if !errors.Is(again, want) || want == nil && !slowly.Filter.Equal(read.Filter) {
			t.Errorf("%s, byte by byte: %v, want %v", name, again, want)
		}
		path := filepath.Join(t.TempDir(), "journal")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		journal, opened, err := OpenJournal(path)
		if !errors.Is(err, want) || want != nil && !strings.Contains(err.Error(), path) {
			t.Errorf("%s: a file of it: %v, want %v", name, err, want)
		}
		if want != nil {
			return
		}
		defer journal.Close()
		if read.Sequence != numbers[0] || read.Len != int64(numbers[1]) || read.Torn != (numbers[2] == 1) {
			t.Errorf("%s: %d, %d bytes, torn: %v, want %v", name, read.Sequence, read.Len, read.Torn, numbers)
		}
		if info, err := os.Stat(path); err != nil || info.Size() != read.Len || !opened.Equal(read.Filter) || journal.Sequence() != read.Sequence || journal.Len() != read.Len {
			t.Errorf("%s: a file of it has %v bytes, number %d", name, info.Size(), journal.Sequence())
		}
		hasKeysOf(t, name, read.Filter, data[:read.Len])
	})
}

// oneByte reads a byte at a time.
type oneByte struct{ from io.Reader }

func (r oneByte) Read(data []byte) (int, error) { return r.from.Read(data[:min(len(data), 1)]) }

// hasKeysOf compares a filter with the records of a journal, as the page defines them.
func hasKeysOf(t *testing.T, name string, filter *GrowingFilter, data []byte) {
	t.Helper()
	records := plainRecords(data)
	var model map[uint64]uint64
	keys, seen, unbounded := uint64(0), map[uint64]bool{}, false
	for _, r := range records {
		if seen[r.sequence] {
			continue
		}
		seen[r.sequence] = true
		if r.whole != nil {
			var whole GrowingFilter
			if err := whole.UnmarshalBinary(r.whole); err != nil {
				t.Fatal(err)
			}
			model, keys, unbounded = maps.Collect(whole.Prefixes()), whole.KeyCount(), whole.Params().Unbounded
			continue
		}
		for _, prefix := range r.lists[0] {
			model[prefix]++
		}
		for _, prefix := range r.lists[1] {
			if model[prefix]--; model[prefix] == 0 {
				delete(model, prefix)
			}
		}
		keys = r.keys
	}
	if filter.KeyCount() != keys {
		t.Errorf("%s: %d keys, want %d", name, filter.KeyCount(), keys)
	}
	if !unbounded && !maps.Equal(model, maps.Collect(filter.Prefixes())) {
		t.Errorf("%s: other prefixes than the page says", name)
	}
}

// What Go writes after the same changes is the golden record, byte for byte.
func TestJournalsAreWrittenAsTheGoldenOnes(t *testing.T) {
	written := 0
	goldenJournals(t, func(name string, data []byte, numbers []uint64, want error) {
		if want != nil || strings.Contains(name, "repeated") {
			return
		}
		read, err := ReplayJournal(bytes.NewReader(data[:numbers[1]]))
		if err != nil {
			t.Fatal(err)
		}
		records := plainRecords(data[:read.Len])
		var out bytes.Buffer
		filter, before := new(GrowingFilter), 0
		for _, r := range records {
			if r.whole != nil {
				if filter = new(GrowingFilter); filter.UnmarshalBinary(r.whole) != nil {
					t.Fatal(name)
				}
				err = filter.SaveWhole(&out, r.sequence)
			} else {
				for _, prefix := range r.lists[0] {
					filter.AddHash(hashOf(prefix, r.all))
				}
				for _, prefix := range r.lists[1] {
					if filter.RemoveHash(hashOf(prefix, r.all)) != nil {
						t.Errorf("%s: %d is absent", name, prefix)
					}
				}
				// What was added and removed is left out.
				filter.AddHash(77)
				if filter.RemoveHash(77) != nil {
					t.Errorf("%s: what was added is absent", name)
				}
				if filter.KeyCount() != r.keys {
					return // the definition states another number
				}
				err = filter.SaveChanged(&out, r.sequence)
			}
			if err != nil || !bytes.Equal(out.Bytes()[before:], r.data) {
				t.Errorf("%s: record %d: %v, or other bytes", name, r.sequence, err)
				return
			}
			before = out.Len()
			written++
		}
	})
	if written < 15 {
		t.Errorf("%d records", written)
	}
}

// journalOf is a journal of a filter that changes, and the filter after each record with where that ends.
func journalOf(t *testing.T, filter *GrowingFilter, records int) (data []byte, ends []int, states []*GrowingFilter) {
	var out bytes.Buffer
	rng := rand.New(rand.NewPCG(5, 6))
	var present []uint64
	for number := range records {
		for range rng.IntN(60) {
			hash := rng.Uint64()
			filter.AddHash(hash)
			present = append(present, hash)
		}
		for range rng.IntN(30) {
			if len(present) > 0 {
				at := rng.IntN(len(present))
				if err := filter.RemoveHash(present[at]); err != nil {
					t.Fatal(err)
				}
				present = slices.Delete(present, at, at+1)
			}
		}
		if err := filter.SaveChanged(&out, uint64(10*number)); err != nil {
			t.Fatal(err)
		}
		ends, states = append(ends, out.Len()), append(states, filter.Clone())
	}
	return out.Bytes(), ends, states
}

func TestJournalsTornAnywhere(t *testing.T) {
	data, ends, states := journalOf(t, orPanic(NewGrowing(500, 0.05)), 12)
	for size := range len(data) + 1 {
		number := -1
		for number+1 < len(ends) && ends[number+1] <= size {
			number++
		}
		read, err := ReplayJournal(bytes.NewReader(data[:size]))
		if number < 0 {
			if err != ErrTruncated {
				t.Fatalf("%d bytes: %v", size, err)
			}
			continue
		}
		if err != nil || read.Sequence != uint64(10*number) || read.Len != int64(ends[number]) || read.Torn != (size > ends[number]) {
			t.Fatalf("%d bytes: %v, %v", size, read, err)
		}
		if size == ends[number] && !read.Filter.Equal(states[number]) {
			t.Fatalf("%d bytes: another filter", size)
		}
	}
	// A bit that is wrong is damage, or the end.
	for at := range len(data) {
		wrong := bytes.Clone(data)
		wrong[at] ^= 1 << (at % 8)
		read, err := ReplayJournal(bytes.NewReader(wrong))
		last := ends[len(ends)-2]
		if at < last && err == nil || at >= last && (err != nil || !read.Torn || read.Len != int64(last)) {
			t.Fatalf("byte %d is wrong: %v, %v", at, read, err)
		}
	}
}

func TestPatches(t *testing.T) {
	for _, unbounded := range []bool{false, true} {
		filter := orPanic(NewGrowing(500, 0.05))
		if unbounded {
			filter = orPanic(NewGrowingUnbounded(50, 0.05))
		}
		data, ends, states := journalOf(t, filter, 12)
		for from := range ends {
			read := orPanic(ReplayJournal(bytes.NewReader(data[:ends[from]])))
			patch, err := PatchSince(data, uint64(10*from))
			if err != nil || !bytes.Equal(patch, data[ends[from]:]) {
				t.Fatalf("since %d: %d bytes, %v", 10*from, len(patch), err)
			}
			for _, records := range [][]byte{patch, data} { // those that it has are skipped
				sequence, err := read.Filter.ApplyPatch(records)
				if err != nil || sequence != 110 || read.Filter.KeyCount() != states[11].KeyCount() {
					t.Fatalf("since %d: %d, %v", 10*from, sequence, err)
				}
			}
			if !unbounded && !read.Filter.Equal(states[11]) {
				t.Errorf("since %d: another filter", 10*from)
			}
			if from > 8 {
				continue
			}
			read = orPanic(ReplayJournal(bytes.NewReader(data[:ends[from]])))
			if _, err := read.Filter.ApplyPatch(data[ends[from+1]:]); !errors.Is(err, ErrSequence) {
				t.Errorf("a record is missing: %v", err)
			}
			read.Filter.AddHash(1)
			if _, err := read.Filter.ApplyPatch(patch); !errors.Is(err, ErrSequence) {
				t.Errorf("it has changed by itself: %v", err)
			}
		}
		if _, err := PatchSince(data, 15); !errors.Is(err, ErrSequence) {
			t.Error(err)
		}
	}
	// A record that was appended twice is passed over, as ReplayJournal does.
	data, ends, _ := journalOf(t, orPanic(NewGrowing(500, 0.05)), 3)
	twice := append(bytes.Clone(data), data[ends[0]:ends[1]]...)
	if patch, err := PatchSince(twice, 10); err != nil || !bytes.Equal(patch, twice[ends[1]:]) {
		t.Errorf("%d bytes of %d, %v", len(patch), len(twice), err)
	}
	twice = append(bytes.Clone(data), data[ends[1]:]...)
	if patch, err := PatchSince(twice, 20); err != nil || len(patch) != 0 {
		t.Errorf("a filter that is up to date gets %d bytes, %v", len(patch), err)
	}
	var none GrowingFilter
	if _, err := none.ApplyPatch(nil); !errors.Is(err, ErrSequence) {
		t.Error(err)
	}
	if err := none.SaveChanged(io.Discard, 1); err != ErrNoLines {
		t.Error(err)
	}
}

// Views of a filter see what a whole filter in a patch has, and keep their seed.
func TestViewsSeePatches(t *testing.T) {
	published := orPanic(NewGrowing(500, 0.05))
	var journal bytes.Buffer
	orPanic(0, published.SaveWhole(&journal, 1))
	filter := orPanic(ReplayJournal(bytes.NewReader(journal.Bytes()))).Filter
	view := filter.View()
	published.AddHash(0x123456789)
	journal.Reset()
	orPanic(0, published.SaveWhole(&journal, 2))
	if sequence, err := filter.ApplyPatch(journal.Bytes()); err != nil || sequence != 2 {
		t.Fatal(sequence, err)
	}
	if !filter.ContainsHash(0x123456789) || !view.ContainsHash(0x123456789) {
		t.Error("a key of the patch is absent")
	}
	other := orPanic(NewGrowing(500, 0.05, WithSeed(3)))
	journal.Reset()
	orPanic(0, other.SaveWhole(&journal, 3))
	if _, err := filter.ApplyPatch(journal.Bytes()); !errors.Is(err, ErrMismatch) {
		t.Errorf("another seed: %v", err)
	}
	if !filter.ContainsHash(0x123456789) {
		t.Error("what was refused has changed the filter")
	}
}

// What is no longer known is written whole.
func TestJournalsBeginAnew(t *testing.T) {
	for name, change := range map[string]func(f *GrowingFilter) *GrowingFilter{
		"united":     func(f *GrowingFilter) *GrowingFilter { _ = f.Union(f.Clone()); return f },
		"cleared":    func(f *GrowingFilter) *GrowingFilter { f.Clear(); return f },
		"a copy":     (*GrowingFilter).Clone,
		"read":       func(f *GrowingFilter) *GrowingFilter { _ = f.UnmarshalBinary(orPanic(f.MarshalBinary())); return f },
		"many":       func(f *GrowingFilter) *GrowingFilter { f.AddHashes(randomHashes(6000, 1)); return f },
		"one by one": func(f *GrowingFilter) *GrowingFilter { f.AddHashesIfAbsent(randomHashes(9000, 1), nil); return f },
	} {
		filter := orPanic(NewGrowing(9000, 0.01))
		filter.AddHashes(randomHashes(100, 3))
		var out bytes.Buffer
		if filter.SaveWhole(&out, 1) != nil {
			t.Fatal(name)
		}
		start := out.Len()
		filter = change(filter)
		if _, known := filter.SavedSequence(); known || filter.SaveChanged(&out, 2) != nil || out.Bytes()[start+10] != 1 {
			t.Errorf("%s: it is not written whole", name)
		}
		read := orPanic(ReplayJournal(&out))
		if !read.Filter.Equal(filter) || read.Sequence != 2 {
			t.Errorf("%s: another filter", name)
		}
	}
}

// Any bytes: what is read is there without what is behind it, too, and is a patch for what comes before.
func FuzzJournal(f *testing.F) {
	goldenJournals(f, func(_ string, data []byte, _ []uint64, _ error) { f.Add(data) })
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, data := range [][]byte{data, repairedJournal(data)} {
			read, err := ReplayJournal(bytes.NewReader(data))
			if err != nil {
				continue
			}
			if read.Len > int64(len(data)) || read.Torn != (read.Len < int64(len(data))) {
				t.Fatalf("%+v of %d bytes", read, len(data))
			}
			again, err := ReplayJournal(bytes.NewReader(data[:read.Len]))
			if err != nil || again.Torn || again.Sequence != read.Sequence || !again.Filter.Equal(read.Filter) {
				t.Fatalf("without what is torn: %+v, %v", again, err)
			}
			// A filter knows its own records again, and not those before the last whole one.
			if sequence, err := read.Filter.ApplyPatch(data[:read.Len]); err == nil && sequence != read.Sequence || err != nil && !errors.Is(err, ErrSequence) {
				t.Fatalf("a patch that it has: %d, %v", sequence, err)
			}
			var out bytes.Buffer
			read.Filter.AddHash(3)
			if read.Sequence < 1<<63 && read.Filter.SaveChanged(&out, read.Sequence+1) == nil {
				if _, err := again.Filter.ApplyPatch(out.Bytes()); err != nil || !again.Filter.ContainsHash(3) {
					t.Fatal("what was written is no patch:", err)
				}
			}
		}
	})
}

// repairedJournal gives records the checksums that they ought to have.
func repairedJournal(data []byte) []byte {
	data = bytes.Clone(data)
	for rest := data; len(rest) >= 64; {
		content := rest[64:]
		content = content[:min(uint64(len(content)), le.Uint64(rest[16:]))]
		le.PutUint64(rest[48:], checksum(content))
		le.PutUint64(rest[56:], checksum(rest[:56]))
		rest = rest[64+len(content):]
	}
	return data
}
