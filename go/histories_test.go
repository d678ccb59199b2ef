package bloomline

// The histories of all kinds: golden/README.md has the format. Each is replayed with keys as strings and
// as slices, in the assembly of this CPU and without.

import (
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// historyKeys are the keys of a line: hashes, or byte keys.
type historyKeys struct {
	hashes []uint64
	texts  []string
	slices [][]byte
	bytes  bool // they are byte keys
	one    bool // for the method that takes one
}

func readHistoryKeys(t *testing.T, items []string) (keys historyKeys) {
	for _, item := range items {
		item, times, repeated := strings.Cut(item, "*")
		fields := strings.Split(item, ":")
		what, base := fields[0], 10
		if what == "hash" {
			base = 16
		}
		n := []uint64{number(t, fields[1], base), 1}
		if len(fields) > 2 {
			n[1] = number(t, fields[2], 10)
		}
		keys.one = len(items) == 1 && len(fields) == 2 && !repeated
		keys.bytes = strings.HasPrefix(what, "key")
		count := uint64(1)
		if repeated {
			count = number(t, times, 10)
		}
		for range count {
			switch what {
			case "hash":
				keys.hashes = append(keys.hashes, n[0])
			case "numbers":
				for i := range n[1] {
					keys.hashes = append(keys.hashes, n[0]+i)
				}
			case "hashes":
				keys.hashes = append(keys.hashes, splitMix(int(n[0]), n[1])...)
			default:
				for i := range n[1] {
					keys.texts = append(keys.texts, fmt.Sprint("key ", n[0]+i))
				}
			}
		}
	}
	for _, text := range keys.texts {
		keys.slices = append(keys.slices, []byte(text))
	}
	return keys
}

// hashed are the hashes of the keys.
func (k historyKeys) hashed(seed uint64) []uint64 {
	for _, text := range k.texts {
		k.hashes = append(k.hashes, HashString(text, seed))
	}
	return k.hashes
}

// ---- answers as text ----

func saidStatus(err error) string {
	// What K is in a cuckoo filter: golden/README.md.
	if errors.Is(err, ErrFingerprintBits) {
		return "k"
	}
	for name, known := range map[string]error{
		"ok": nil, "rate": ErrRate, "k": ErrK, "mismatch": ErrMismatch, "odd_line_count": ErrOddLineCount, "classic": ErrClassic,
		"absent": ErrAbsent, "full": ErrFull, "generations": ErrGenerations, "overlap": ErrOverlap,
		"columns": ErrColumns, "column": ErrColumn, "column_shape": ErrColumnShape,
	} {
		if errors.Is(err, known) {
			return name
		}
	}
	return err.Error()
}

func saidBitmap(b Bitmap) string {
	var data []byte
	for _, word := range b {
		data = le.AppendUint64(data, word)
	}
	return fmt.Sprintf("%d %016x", b.Count(), checksum(data))
}

func saidBytes(data []byte, err error) string {
	return fmt.Sprintf("%d %016x", len(data), checksum(orPanic(data, err)))
}

func float(text string) float64 { return orPanic(strconv.ParseFloat(text, 64)) }

func either(of bool, yes, no string) string {
	if of {
		return yes
	}
	return no
}

// ---- the verbs ----

type history struct {
	kindRow
	two    [2]storedKind
	slices bool // keys as slices, not as strings
}

// answer does what a line says, and returns what came of it.
func (h *history) answer(t *testing.T, words []string) string {
	verb, args := words[0], words[1:]
	filter := h.two[0]
	if h.columns != nil {
		if said := h.columns(t, h, words); said != "" {
			return said
		}
	}
	switch verb {
	case "new":
		made, err := h.made(t, args)
		if err == nil {
			h.two[0] = made
		}
		return saidStatus(err)
	case "open":
		return h.decode(goldenBytes(t, args[0]))
	case "swap":
		h.two[0], h.two[1] = h.two[1], h.two[0]
	case "copy":
		h.two[1] = reflect.ValueOf(filter).MethodByName("Clone").Call(nil)[0].Interface().(storedKind)
	case "union":
		other := h.two[1]
		if shared, ok := other.(*ConcurrentFilter); ok {
			other = orPanic(shared.Snapshot())
		}
		united := reflect.ValueOf(filter).MethodByName("Union").Call([]reflect.Value{reflect.ValueOf(other)})
		err, _ := united[0].Interface().(error)
		return saidStatus(err)
	case "encode":
		return saidBytes(filter.MarshalBinary())
	case "reopen":
		return h.decode(orPanic(filter.MarshalBinary()))
	case "save":
		path := filepath.Join(t.TempDir(), "filter")
		must(filter.(interface{ Save(string) error }).Save(path))
		h.two[0] = orPanic(h.load(path)).(storedKind)
	case "contains":
		return h.contains(t, readHistoryKeys(t, args))
	case "insert", "insert_new":
		return h.insert(verb, readHistoryKeys(t, args))
	case "remove":
		return h.remove(readHistoryKeys(t, args))
	default:
		if h.other != nil {
			if said := h.other(t, filter.(anyKind), words); said != "" {
				return said
			}
		}
		return facts(t, filter.(anyKind), words)
	}
	return "ok"
}

func (h *history) decode(data []byte) string {
	filter := reflect.New(reflect.TypeOf(h.two[0]).Elem()).Interface().(storedKind)
	err := filter.UnmarshalBinary(data)
	h.two[0] = filter
	return saidStatus(err)
}

// contains asks for the keys in a batch and one by one, of the filter and of its view.
func (h *history) contains(t *testing.T, keys historyKeys) string {
	filters := []Prober{h.two[0].(Prober)}
	if viewed, ok := h.two[0].(interface{ View() View }); ok {
		filters = append(filters, viewed.View())
	}
	var answers Bitmap
	for _, filter := range filters {
		batch := filter.ContainsHashes(keys.hashes, nil)
		if keys.bytes {
			batch = filter.ContainsStrings(keys.texts, nil)
			if h.slices {
				batch = filter.ContainsBatch(keys.slices, nil)
			}
		}
		for i, hash := range keys.hashes {
			if filter.ContainsHash(hash) != batch.Has(i) {
				t.Errorf("hash %x alone is another", hash)
			}
		}
		for i, text := range keys.texts {
			if filter.ContainsString(text) != batch.Has(i) || filter.Contains(keys.slices[i]) != batch.Has(i) {
				t.Errorf("%q alone is another", text)
			}
		}
		if answers != nil && !slices.Equal(answers, batch) {
			t.Error("the view has other answers")
		}
		answers = batch
	}
	if keys.one {
		return either(answers.Has(0), "maybe", "absent")
	}
	return saidBitmap(answers)
}

// insert adds in the way that fits the keys.
func (h *history) insert(verb string, keys historyKeys) string {
	if growing, ok := h.two[0].(*GrowingFilter); ok && verb == "insert_new" { // where AddBatchIfAbsent adds no key twice
		isNew := make(Bitmap, (len(keys.hashes)+len(keys.texts)+63)/64)
		for i, hash := range keys.hashed(growing.seed()) {
			if !growing.ContainsHash(hash) {
				isNew[i/64] |= 1 << (i % 64)
			}
			growing.AddHash(hash)
		}
		return saidBitmap(isNew)
	}
	if verb == "insert_new" {
		filter := h.two[0].(interface {
			AddBatchIfAbsent([][]byte, Bitmap) Bitmap
			AddStringsIfAbsent([]string, Bitmap) Bitmap
			AddHashesIfAbsent([]uint64, Bitmap) Bitmap
		})
		switch {
		case !keys.bytes:
			return saidBitmap(filter.AddHashesIfAbsent(keys.hashes, nil))
		case h.slices:
			return saidBitmap(filter.AddBatchIfAbsent(keys.slices, make(Bitmap, 1)))
		}
		return saidBitmap(filter.AddStringsIfAbsent(keys.texts, nil))
	}
	if cuckoo, ok := h.two[0].(*CuckooFilter); ok {
		return h.insertCuckoo(cuckoo, keys)
	}
	filter := h.two[0].(interface {
		Prober
		Add([]byte)
		AddString(string)
		AddHash(uint64)
		AddBatch([][]byte)
		AddStrings([]string)
		AddHashes([]uint64)
	})
	switch {
	case keys.one && !keys.bytes:
		isNew := !filter.ContainsHash(keys.hashes[0])
		filter.AddHash(keys.hashes[0])
		return either(isNew, "new", "old")
	case keys.one:
		isNew := !filter.ContainsString(keys.texts[0])
		if h.slices {
			filter.Add(keys.slices[0])
		} else {
			filter.AddString(keys.texts[0])
		}
		return either(isNew, "new", "old")
	case !keys.bytes:
		filter.AddHashes(keys.hashes)
	case h.slices:
		filter.AddBatch(keys.slices)
	default:
		filter.AddStrings(keys.texts)
	}
	return "ok"
}

// insertCuckoo is insert where there may be no room.
func (h *history) insertCuckoo(filter *CuckooFilter, keys historyKeys) string {
	before, isNew, n := filter.KeyCount(), false, 1
	var err error
	switch {
	case keys.one && !keys.bytes:
		isNew, err = !filter.ContainsHash(keys.hashes[0]), filter.AddHash(keys.hashes[0])
	case keys.one && h.slices:
		isNew, err = !filter.Contains(keys.slices[0]), filter.Add(keys.slices[0])
	case keys.one:
		isNew, err = !filter.ContainsString(keys.texts[0]), filter.AddString(keys.texts[0])
	case !keys.bytes:
		n, err = filter.AddHashes(keys.hashes)
	case h.slices:
		n, err = filter.AddBatch(keys.slices)
	default:
		n, err = filter.AddStrings(keys.texts)
	}
	if keys.one && err == nil {
		return either(isNew, "new", "old")
	}
	if !keys.one && filter.KeyCount() != before+uint64(n) {
		return fmt.Sprintf("%d keys, of which %d were added", filter.KeyCount(), n)
	}
	return saidStatus(err)
}

func (h *history) remove(keys historyKeys) string {
	filter := h.two[0].(interface {
		Remove([]byte) error
		RemoveString(string) error
		RemoveHash(uint64) error
		RemoveBatch([][]byte, Bitmap) Bitmap
		RemoveStrings([]string, Bitmap) Bitmap
		RemoveHashes([]uint64, Bitmap) Bitmap
	})
	switch {
	case keys.one && !keys.bytes:
		return saidStatus(filter.RemoveHash(keys.hashes[0]))
	case keys.one && h.slices:
		return saidStatus(filter.Remove(keys.slices[0]))
	case keys.one:
		return saidStatus(filter.RemoveString(keys.texts[0]))
	case !keys.bytes:
		return saidBitmap(filter.RemoveHashes(keys.hashes, nil))
	case h.slices:
		return saidBitmap(filter.RemoveBatch(keys.slices, make(Bitmap, 30)))
	}
	return saidBitmap(filter.RemoveStrings(keys.texts, nil))
}

// facts are verbs without keys that most kinds have.
func facts(t *testing.T, filter anyKind, words []string) string {
	switch words[0] {
	case "key_count":
		return fmt.Sprint(filter.(interface{ KeyCount() uint64 }).KeyCount())
	case "clear":
		filter.(interface{ Clear() }).Clear()
		return "ok"
	case "params":
		p := filter.(interface{ Params() Params }).Params()
		return fmt.Sprint(p.LineCount, p.K, p.Seed)
	}
	t.Fatalf("%v: no such verb", words)
	return ""
}

func TestHistories(t *testing.T) {
	eachWay(t, func(t *testing.T) {
		for _, row := range kindRows {
			if row.history == "" {
				continue
			}
			lines := golden(t, "histories/"+row.history+".txt")
			for _, bySlices := range []bool{false, true} {
				h := history{kindRow: row, slices: bySlices}
				for i, line := range lines {
					arrow := slices.Index(line, "->")
					want := strings.Join(line[arrow+1:], " ")
					if got := h.answer(t, line[:arrow]); got != want || t.Failed() {
						t.Fatalf("%s.txt:%d: %v: %s, want %s", row.history, i+1, line[:arrow], got, want)
					}
				}
			}
		}
	})
}
