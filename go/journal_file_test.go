package bloomline

// Journals in files: opened again, torn, locked, replaced by others; a writer that is killed.

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"github.com/bloomline/bloomline/go/internal/host"
)

func TestJournalFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	filter := orPanic(NewGrowing(5000, 0.01))
	journal := orPanic(CreateJournal(path, filter, 0))
	for sequence := uint64(1); sequence < 20; sequence++ {
		filter.AddHashes(randomHashes(50, sequence))
		if err := journal.SaveChanged(filter, sequence-1); !errors.Is(err, ErrSequence) {
			t.Fatal(err)
		}
		if err := journal.SaveChanged(filter, sequence); err != nil {
			t.Fatal(err)
		}
		switch sequence % 5 {
		case 0:
			if err := journal.Restart(filter, sequence); err != nil {
				t.Fatal(err)
			}
		case 1:
			if err := journal.Close(); err != nil {
				t.Fatal(err)
			}
			data := orPanic(os.ReadFile(path))
			torn := append(bytes.Clone(data), data[:min(len(data), 64+int(sequence))]...)
			if err := os.WriteFile(path, torn, 0o600); err != nil {
				t.Fatal(err)
			}
			opened, read, err := OpenJournal(path)
			if err != nil || !read.Equal(filter) || opened.Sequence() != sequence || opened.Len() != int64(len(data)) {
				t.Fatal(sequence, err)
			}
			journal, filter = opened, read
		case 2:
			filter = filter.Clone()
		}
		if info, err := os.Stat(path); err != nil || info.Size() != journal.Len() {
			t.Fatal(info, err)
		}
		shown := fmt.Sprintf("bloomline.Journal{%s, sequence %d, %d bytes}", path, sequence, journal.Len())
		if journal.String() != shown {
			t.Fatal(journal)
		}
	}
	if _, _, err := OpenJournal(path); host.HasLocks && !errors.Is(err, ErrLocked) {
		t.Error("two have it:", err)
	}
	if _, err := CreateJournal(path, filter.Clone(), 90); host.HasLocks && !errors.Is(err, ErrLocked) {
		t.Error("two have it:", err)
	}
	if host.RenamesOpen {
		// What is acknowledged is in the file that the path leads to.
		other := orPanic(CreateJournal(path+"2", filter.Clone(), 50))
		if err := os.Rename(path+"2", path); err != nil {
			t.Fatal(err)
		}
		if err := journal.SaveChanged(filter, 90); !errors.Is(err, fs.ErrNotExist) {
			t.Error(err)
		}
		if err := journal.Restart(filter, 90); host.HasLocks && !errors.Is(err, ErrLocked) {
			t.Error(err)
		}
		other.Close()
		if err := journal.Restart(filter, 90); err != nil {
			t.Error(err)
		}
	}
	filter.AddHash(1)
	if err := journal.SaveChanged(filter, 91); err != nil {
		t.Error(err)
	}
	journal.Close()
	// After a restart the file had another name while it was written.
	var of *fs.PathError
	if err := journal.Close(); !errors.Is(err, fs.ErrClosed) || !errors.As(err, &of) || of.Path != path {
		t.Error(err)
	}
	if err := journal.SaveChanged(filter, 92); fmt.Sprint(err) != "save "+path+": "+fs.ErrClosed.Error() {
		t.Error("closed:", err)
	}
	if err := journal.Restart(filter, 92); !errors.Is(err, fs.ErrClosed) {
		t.Error("closed:", err)
	}
	reopened, read, err := OpenJournal(path)
	if err != nil || !read.Equal(filter) || reopened.Sequence() != 91 {
		t.Fatal(err)
	}
	reopened.Close()
	if names := orPanic(os.ReadDir(filepath.Dir(path))); len(names) != 1 {
		t.Error("left over:", names)
	}
	if _, _, err := OpenJournal(filepath.Dir(path)); !errors.Is(err, ErrNotAFile) {
		t.Error(err)
	}
}

// Where there is no journal, one of several writers begins it, and the others know. What it acknowledges stays.
func TestOneOfSeveralBeginsAJournal(t *testing.T) {
	if !host.HasLocks || !host.RenamesOpen {
		t.Skip("two may have it")
	}
	directory := t.TempDir()
	path := filepath.Join(directory, "journal")
	for round := range 25 {
		filters := make([]*GrowingFilter, 4)
		for i := range filters {
			filters[i] = orPanic(NewGrowing(100, 0.01))
			filters[i].AddHash(uint64(i))
		}
		// One whose file is removed.
		journals, errs := make([]*Journal, len(filters)), make([]error, len(filters))
		restarted := orPanic(CreateJournal(path, filters[0], 0))
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		var started, done sync.WaitGroup
		started.Add(1)
		for i, filter := range filters {
			done.Add(1)
			go func() {
				defer done.Done()
				started.Wait()
				if i > 0 {
					journals[i], errs[i] = CreateJournal(path, filter, 1)
				} else if errs[i] = restarted.Restart(filter, 1); errs[i] == nil {
					journals[i] = restarted
				}
			}()
		}
		started.Done()
		done.Wait()
		begun := 0
		for i, journal := range journals {
			if journal == nil {
				if !errors.Is(errs[i], ErrLocked) {
					t.Fatal(errs[i])
				}
				continue
			}
			begun++
			filters[i].AddHash(99)
			if err := journal.SaveChanged(filters[i], 9); err != nil {
				t.Fatal(round, err)
			}
			read, err := ReplayJournal(bytes.NewReader(orPanic(os.ReadFile(path))))
			if err != nil || read.Sequence != 9 || !read.Filter.Equal(filters[i]) {
				t.Fatal(round, read, err)
			}
			journal.Close()
		}
		restarted.Close()
		if begun != 1 {
			t.Fatalf("round %d: %d have it", round, begun)
		}
		if names := orPanic(os.ReadDir(directory)); len(names) != 1 {
			t.Fatal("left over:", names)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
}

// What is read may have been written shortly before its writer ended.
func TestOpenedJournalsAreFlushed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	filter := orPanic(NewGrowing(100, 0.01))
	orPanic(CreateJournal(path, filter, 3)).Close()
	failed := errors.New("failed")
	if _, _, err := openJournal(path, func(*os.File) error { return failed }); !errors.Is(err, failed) {
		t.Error(err)
	}
	journal, _, err := OpenJournal(path)
	if err != nil || journal.Sequence() != 3 {
		t.Fatal(err)
	}
	journal.Close()
}

// A copy of a journal follows it, however often it is opened again.
func TestJournalsThatFollow(t *testing.T) {
	directory := t.TempDir()
	path, followed := filepath.Join(directory, "journal"), filepath.Join(directory, "copy")
	filter := orPanic(NewGrowingUnbounded(500, 0.01))
	journal := orPanic(CreateJournal(path, filter, 10))
	defer journal.Close()
	if err := os.WriteFile(followed, orPanic(os.ReadFile(path)), 0o600); err != nil {
		t.Fatal(err)
	}
	var all []uint64
	for sequence := uint64(11); sequence < 40; sequence++ {
		hashes := randomHashes(60, sequence)
		filter.AddHashes(hashes)
		all = append(all, hashes...)
		save := journal.SaveChanged
		switch sequence % 10 {
		case 0:
			save = journal.Restart
		case 5:
			if err := filter.Union(filter.Clone()); err != nil {
				t.Fatal(err)
			}
		}
		if err := save(filter, sequence); err != nil {
			t.Fatal(err)
		}
		if sequence%3 != 0 {
			continue // It comes with the next patch.
		}
		data := orPanic(os.ReadFile(path))
		own, followers, err := OpenJournal(followed)
		if err != nil {
			t.Fatal(err)
		}
		view := followers.View()
		patch := orPanic(PatchSince(data, own.Sequence()))
		last, size := own.Sequence(), own.Len()
		if _, err := own.ApplyPatch(followers, patch[:len(patch)-8]); !errors.Is(err, ErrTruncated) {
			t.Fatal(err)
		}
		if saved, ok := followers.SavedSequence(); own.Sequence() != last || own.Len() != size || saved != last || !ok {
			t.Fatal("not all or nothing")
		}
		for range 2 {
			if got, err := own.ApplyPatch(followers, patch); err != nil || got != sequence {
				t.Fatal(sequence, got, err)
			}
			if info := orPanic(os.Stat(followed)); info.Size() != own.Len() || info.Size() > int64(len(data)) {
				t.Fatal(info.Size(), own.Len(), len(data))
			}
		}
		if !followers.Equal(orPanic(ReplayJournal(bytes.NewReader(data))).Filter) {
			t.Fatal(sequence)
		}
		for _, hash := range all {
			if !followers.ContainsHash(hash) || !view.ContainsHash(hash) {
				t.Fatal(sequence, hash)
			}
		}
		own.Close()
	}
	// It has changed by itself, is not that of the journal, or was saved in a journal of its own.
	filter.AddHash(1)
	if err := journal.SaveChanged(filter, 50); err != nil {
		t.Fatal(err)
	}
	patch := orPanic(PatchSince(orPanic(os.ReadFile(path)), 39))
	own, followers, err := OpenJournal(followed)
	if err != nil {
		t.Fatal(err)
	}
	defer own.Close()
	refused := func(filter *GrowingFilter) {
		t.Helper()
		size := own.Len()
		if _, err := own.ApplyPatch(filter, patch); !errors.Is(err, ErrSequence) || own.Len() != size {
			t.Error(err)
		}
	}
	refused(followers.Clone())
	followers.AddHash(2)
	refused(followers)
	// Below the number of the patch, and the same.
	for _, sequence := range []uint64{40, 50} {
		if err := own.SaveChanged(followers, sequence); err != nil {
			t.Fatal(err)
		}
		refused(followers)
	}
}

// ---- a crash ----

const crashing = "BLOOMLINE_TEST_JOURNAL"

func keysOfSequence(sequence uint64) []uint64 { return randomHashes(40, sequence)[20:] }

// The writer that is killed: it says on its output what is on the disk.
func TestJournalWriter(t *testing.T) {
	path := os.Getenv(crashing)
	if path == "" {
		return // TestJournalsAfterACrash runs it
	}
	journal, filter, err := OpenJournal(path)
	if err != nil {
		t.Fatal(err)
	}
	for sequence := journal.Sequence() + 1; ; sequence++ {
		for _, hash := range keysOfSequence(sequence) {
			filter.AddHash(hash)
		}
		if sequence%7 == 0 {
			err = journal.Restart(filter, sequence)
		} else {
			err = journal.SaveChanged(filter, sequence)
		}
		if err != nil {
			t.Fatal(err)
		}
		fmt.Println("saved", sequence)
	}
}

// The writer is killed at random points: no key that it acknowledged is lost.
func TestJournalsAfterACrash(t *testing.T) {
	path, acknowledged := filepath.Join(t.TempDir(), "journal"), uint64(0)
	if err := orPanic(CreateJournal(path, orPanic(NewGrowingUnbounded(100, 0.01)), 0)).Close(); err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(7, 8))
	for range 20 {
		writer := exec.Command(os.Args[0], "-test.run=^TestJournalWriter$")
		writer.Env = append(os.Environ(), crashing+"="+path)
		out := orPanic(writer.StdoutPipe())
		if err := writer.Start(); err != nil {
			if errors.Is(err, syscall.ENOEXEC) || errors.Is(err, errors.ErrUnsupported) {
				t.Log("no writer is killed where this program cannot be started:", err)
				return // an emulated CPU, a system without programs
			}
			t.Fatal(err)
		}
		lines, left := bufio.NewScanner(out), rng.IntN(30)
		for ; left >= 0 && lines.Scan(); left-- {
			if _, err := fmt.Sscanf(lines.Text(), "saved %d", &acknowledged); err != nil {
				t.Fatal(lines.Text())
			}
		}
		_ = writer.Process.Kill()
		for lines.Scan() {
			_, _ = fmt.Sscanf(lines.Text(), "saved %d", &acknowledged)
		}
		_ = writer.Wait()
		if left >= 0 {
			t.Fatal("the writer ended by itself")
		}
		journal, filter, err := OpenJournal(path)
		if err != nil {
			t.Fatal(err)
		}
		if journal.Sequence() < acknowledged {
			t.Fatalf("%d is acknowledged, %d is there", acknowledged, journal.Sequence())
		}
		for sequence := range journal.Sequence() {
			for _, hash := range keysOfSequence(sequence + 1) {
				if !filter.ContainsHash(hash) {
					t.Fatalf("%d: %x is lost", sequence+1, hash)
				}
			}
		}
		journal.Close()
	}
	if acknowledged < 100 {
		t.Errorf("%d records", acknowledged)
	}
}
