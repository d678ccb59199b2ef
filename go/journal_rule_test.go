package bloomline

// Which records follow on a filter: the table golden/journal/follows.txt, which tests/all/kinds/journal_rule.rs makes
// by the definition, and says what its words mean.

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// followed is what the lines of the table do things to.
type followed struct {
	t       *testing.T
	path    string
	records map[string][]byte
	filter  *GrowingFilter
	journal *Journal
}

func (f *followed) number(word string) uint64 {
	f.t.Helper()
	number, err := strconv.ParseUint(word, 10, 64)
	if err != nil {
		f.t.Fatal(err)
	}
	return number
}

func (f *followed) hash(word string) uint64 { return f.number(word) * 0x9E37_79B9_7F4A_7C15 }

func (f *followed) patch(names []string) []byte {
	var all []byte
	for _, name := range names {
		record := bytes.Clone(f.records[strings.TrimRight(name, "~!")])
		switch name[len(name)-1] {
		case '~':
			record = record[:len(record)-1]
		case '!':
			record[len(record)-1] ^= 1
		}
		all = append(all, record...)
	}
	return all
}

func (f *followed) operation(verb string, words []string) (answer string, err error) {
	sequence := uint64(0)
	switch verb {
	case "new":
		f.filter, err = NewGrowing(900, 0.01, WithSeed(f.number(words[0])))
	case "insert":
		f.filter.AddHash(f.hash(words[0]))
	case "remove":
		err = f.filter.RemoveHash(f.hash(words[0]))
	case "clear":
		f.filter.Clear()
	case "many":
		for i := range uint64(4700) {
			f.filter.AddHash(i << 50)
		}
	case "whole", "changed":
		record, save := new(bytes.Buffer), f.filter.SaveWhole
		if verb == "changed" {
			save = f.filter.SaveChanged
		}
		if err = save(record, f.number(words[1])); err != nil {
			return "", err
		}
		f.records[words[0]] = record.Bytes()
		return []string{"", "whole", "changes"}[record.Bytes()[10]], nil
	case "replay":
		read, err := ReplayJournal(bytes.NewReader(f.patch(words)))
		if err != nil {
			return "", err
		}
		f.filter = read.Filter
		return fmt.Sprint(read.Sequence), nil
	case "open":
		if f.journal != nil {
			f.journal.Close()
		}
		if err = os.WriteFile(f.path, f.patch(words), 0o600); err == nil {
			// What is on the disk is not asked.
			f.journal, f.filter, err = openJournal(f.path, func(*os.File) error { return nil })
		}
		return fmt.Sprint(f.journal.Sequence()), err
	case "apply":
		sequence, err = f.filter.ApplyPatch(f.patch(words))
		return fmt.Sprint(sequence), err
	case "keep":
		before, unchanged := f.kept(), f.filter.Clone()
		sequence, err = f.journal.ApplyPatch(f.filter, f.patch(words))
		after, want := f.kept(), f.filter
		if f.filter.Equal(unchanged) {
			want = before.Filter
		} else if err != nil {
			f.t.Errorf("keep %v: the filter changed, and then %v", words, err)
		}
		if !after.Filter.Equal(want) || after.Sequence != f.journal.Sequence() {
			f.t.Errorf("keep %v: the file has another filter", words)
		}
		return fmt.Sprint(sequence), err
	default:
		f.t.Fatal(verb)
	}
	return "ok", err
}

func (f *followed) kept() *Replayed {
	return orPanic(ReplayJournal(bytes.NewReader(orPanic(os.ReadFile(f.path)))))
}

func TestRecordsFollowAsTheTableSays(t *testing.T) {
	table, err := os.ReadFile("../golden/journal/follows.txt")
	if err != nil {
		t.Fatal(err)
	}
	f := &followed{t: t, path: filepath.Join(t.TempDir(), "journal"), records: map[string][]byte{}}
	names := map[error]string{ErrSequence: "sequence", ErrMismatch: "mismatch", ErrTruncated: "truncated", ErrChecksum: "checksum"}
	lines := strings.Split(strings.TrimSpace(string(table)), "\n")
	if len(lines) < 500 {
		t.Fatalf("%d lines", len(lines))
	}
	for _, line := range lines {
		story, want, _ := strings.Cut(line, " -> ")
		got := ""
		for operation := range strings.SplitSeq(story, ", ") {
			words := strings.Fields(operation)
			answer, err := f.operation(words[0], words[1:])
			got = answer
			for known, name := range names {
				if errors.Is(err, known) {
					got, err = name, nil
				}
			}
			if err != nil {
				t.Fatal(story, err)
			}
		}
		saved := "-"
		if sequence, ok := f.filter.SavedSequence(); ok {
			saved = fmt.Sprint(sequence)
		}
		if got = fmt.Sprint(got, " ", saved, " ", f.filter.KeyCount()); got != want {
			t.Errorf("%s: %s, want %s", story, got, want)
		}
	}
	if f.journal != nil {
		f.journal.Close()
	}
}
