package bloomline

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
)

func TestFiles(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "filter")
	filter := mustNew(t, 10_000, 0.01)
	filter.AddString("apple")
	if err := filter.Save(path); err != nil {
		t.Fatal(err)
	}
	first, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	// Replaced under a reader, who keeps the old one.
	filter.AddString("pear")
	if err := filter.Save(path); err != nil {
		t.Fatal(err)
	}
	second, err := OpenUnverified(path)
	if err != nil {
		t.Fatal(err)
	}
	loaded, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	loaded.AddString("plum")
	for i, view := range []View{first.View, second.View, loaded.View()} {
		if !view.ContainsString("apple") || view.ContainsString("pear") != (i > 0) || view.ContainsString("plum") != (i > 1) {
			t.Errorf("file %d has the wrong keys", i)
		}
		if view.KeyCount() != uint64(i+1) {
			t.Errorf("file %d: %d keys", i, view.KeyCount())
		}
	}
	if err := errors.Join(first.Close(), first.Close(), second.Close()); err != nil {
		t.Error(err)
	}
	if !first.ContainsString("anything") || first.ContainsStrings([]string{"a", "b"}, nil).Count() != 2 {
		t.Error("a closed file says no")
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("%d files are left", len(left))
	}
}

// Errors name the path that was given, not that of a file beside it, and say what is wrong.
func TestErrorsNameThePath(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	saves := map[string]func(path string) error{}
	for _, used := range nilKinds(t) {
		if used, ok := used.(interface{ Save(string) error }); ok {
			saves[reflect.TypeOf(used).String()] = used.Save
		}
	}
	if len(saves) < 8 {
		t.Errorf("%d kinds", len(saves))
	}
	check := func(what, path string, err, want error) {
		t.Helper()
		var named *fs.PathError
		if !errors.As(err, &named) || named.Path != path || want != nil && !errors.Is(err, want) || strings.Contains(err.Error(), ".tmp") {
			t.Errorf("%s(%q): %v; want %v", what, path, err, want)
		}
	}
	for path, want := range map[string]error{
		"":                            fs.ErrNotExist,
		filepath.Join(dir, "no", "x"): fs.ErrNotExist,
		filepath.Join(file, "x"):      nil,
		dir:                           ErrNotAFile,
		dir + "/" + longName:          nil,
		filepath.Join(dir, "x\x00yz"): nil,
	} {
		for what, save := range saves {
			check(what, path, save(path), want)
		}
		for what, load := range loaders {
			err := load(path)
			check(what, path, err, want)
			if path == "" && !strings.Contains(err.Error(), "the path is empty") {
				t.Errorf("%s: %v", what, err)
			}
		}
	}
	for what, load := range loaders {
		check(what, file, load(file), ErrTruncated)
	}
	check("the zero Filter", file, new(Filter).Save(file), ErrNoLines)
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("%d files are left", len(left))
	}
}

var longName = strings.Repeat("n", 300)

// A View keeps its file mapped when the Mapped is gone.
func TestViewOutlivesMapped(t *testing.T) {
	path := filepath.Join(t.TempDir(), "filter")
	filter := mustNew(t, 10, 0.01)
	filter.AddString("apple")
	if err := filter.Save(path); err != nil {
		t.Fatal(err)
	}
	view := func() View {
		mapped, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		return mapped.View
	}()
	for range 5 {
		runtime.GC()
		if !view.ContainsString("apple") || view.ContainsString("pear") {
			t.Fatal("the file is gone")
		}
	}
}

// What reads a whole map keeps it until the end, though nothing refers to it after the call.
func TestWholeReadsOutliveMapped(t *testing.T) {
	path := filepath.Join(t.TempDir(), "filter")
	keys := 50_000_000 // reading its lines takes longer than it takes to collect
	if testing.Short() {
		keys = 1_000_000
	}
	filter := mustNew(t, keys, 0.01)
	filter.AddHashes(randomHashes(100_000, 1))
	if err := filter.Save(path); err != nil {
		t.Fatal(err)
	}
	done, collected := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(collected)
		for {
			select {
			case <-done:
				return
			default:
				runtime.GC()
			}
		}
	}()
	for _, read := range []func(View) float64{View.Fill, View.EstimatedRate, View.WorstLineRate, View.EstimatedKeys} {
		for range 5 {
			mapped, err := Open(path)
			if err != nil {
				t.Fatal(err)
			}
			view := mapped.View
			mapped = nil
			if got := read(view); got <= 0 {
				t.Fatal(got)
			}
		}
	}
	close(done)
	<-collected
}

func TestFileErrors(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for path, want := range map[string]error{
		filepath.Join(dir, "none"):               fs.ErrNotExist,
		write("empty", ""):                       ErrTruncated,
		write("short", "short"):                  ErrTruncated,
		write("other", strings.Repeat("x", 640)): ErrNotAFilter,
	} {
		for _, open := range []func(string) (*Mapped, error){Open, OpenUnverified} {
			if _, err := open(path); !errors.Is(err, want) || !strings.Contains(err.Error(), path) {
				t.Errorf("open %s: %v", path, err)
			}
		}
		if _, err := Load(path); !errors.Is(err, want) {
			t.Errorf("load %s: %v", path, err)
		}
	}
	if _, err := Open(dir); err == nil {
		t.Error("a directory is a filter")
	}

	filter := mustNew(t, 10, 0.01)
	if err := filter.Save(filepath.Join(dir, "none", "filter")); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	// A name that is taken by a directory: nothing is left beside it.
	if err := filter.Save(dir); err == nil {
		t.Error("a directory was replaced")
	}
	var zero Filter
	if err := zero.Save(filepath.Join(dir, "zero")); !errors.Is(err, ErrNoLines) {
		t.Error(err)
	}
	for _, where := range []string{dir, filepath.Dir(dir)} {
		left, err := filepath.Glob(filepath.Join(where, ".bloomline-*"))
		if err != nil || len(left) > 0 {
			t.Errorf("left behind: %v, %v", left, err)
		}
	}
}
