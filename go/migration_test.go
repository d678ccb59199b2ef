package bloomline_test

// What docs/how-to/move.md says that calls of other Go packages become: each call of its right column stands here.

import (
	"bytes"
	_ "embed"
	"os"
	"strings"
	"testing"

	bloomline "github.com/bloomline/bloomline/go"
)

//go:embed migration_test.go
var migration string

func TestCallsOfOtherPackages(t *testing.T) {
	n, name, key, hash := 1000, "apple", []byte("pear"), uint64(7)<<40
	filter, err := bloomline.New(n, 0.01)
	other, err2 := bloomline.New(n, 0.01)
	shared, err3 := bloomline.NewConcurrent(n, 0.01)
	if err != nil || err2 != nil || err3 != nil {
		t.Fatal(err, err2, err3)
	}
	filter.Add(key)
	filter.AddString(name)
	if !filter.Contains(key) || !filter.ContainsString(name) || filter.AddIfAbsent(key) {
		t.Error("a key that was added is absent, or new")
	}
	filter.AddHash(hash)
	if !filter.ContainsHash(hash) {
		t.Error("a hash that was added is absent")
	}
	if err := filter.Union(other); err != nil {
		t.Error(err)
	}
	if copied := filter.Clone(); !copied.Equal(filter) || filter.Equal(other) {
		t.Error("a copy differs, or an empty filter does not")
	}
	if filter.EstimatedKeys() < 2 || filter.Params().Rate(n) > 0.01 {
		t.Error("the estimate, or the rate")
	}
	w := new(bytes.Buffer)
	if _, err := filter.WriteTo(w); err != nil {
		t.Fatal(err)
	}
	r := w
	if _, err := filter.ReadFrom(r); err != nil || !filter.Contains(key) {
		t.Error(err)
	}
	if err := filter.Intersect(other); err != nil || filter.Contains(key) {
		t.Error(err)
	}
	filter.Clear()
	if !filter.Equal(other) || !shared.AddIfAbsent(key) {
		t.Error("a filter is not empty")
	}
}

func TestThePageHasTheseCalls(t *testing.T) {
	page, err := os.ReadFile("../docs/how-to/move.md")
	if err != nil {
		t.Skip(err) // a copy of the module alone
	}
	_, section, _ := strings.Cut(string(page), "\n## From Go packages\n")
	section, _, _ = strings.Cut(section, "\n## ")
	calls := 0
	for line := range strings.Lines(section) {
		cells := strings.Split(strings.TrimSpace(line), " | ")
		if len(cells) != 3 {
			continue
		}
		// Code is every other part between backticks.
		for i, call := range strings.Split(cells[2], "`") {
			if i%2 == 1 {
				calls++
				if !strings.Contains(migration, call) {
					t.Error("no test of", call)
				}
			}
		}
	}
	if calls < 20 {
		t.Error("the page has", calls, "calls")
	}
}
