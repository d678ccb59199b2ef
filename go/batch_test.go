package bloomline

import (
	"os"
	"testing"
	"unsafe"
)

// What answers batches is what was asked for: scripts/go-test.sh forces each backend in turn.
func TestBackend(t *testing.T) {
	t.Logf("backend %s", Backend())
	if want, forced := os.LookupEnv("BLOOMLINE_EXPECT_BACKEND"); forced && Backend() != want {
		t.Errorf("backend %q, want %q", Backend(), want)
	}
}

// TestBytesBesidePointers probes an encoded filter that is part of an object with pointers in it, as
// an entry of a cache.
func TestBytesBesidePointers(t *testing.T) {
	type entry struct {
		next *entry
		data [4096 + 64]byte
	}
	f, err := NewWithParams(Params{LineCount: 63, K: 6})
	if err != nil {
		t.Fatal(err)
	}
	hashes := make([]uint64, 200)
	for i := range hashes {
		hashes[i] = Hash([]byte{byte(i)}, 0)
	}
	f.AddHashes(hashes)
	encoded, err := f.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	e := &entry{next: new(entry)}
	// Where lines begin, so that they are probed where they are.
	aligned := e.data[-uintptr(unsafe.Pointer(&e.data))%64:][:len(encoded)]
	copy(aligned, encoded)
	view, err := OpenView(aligned)
	if err != nil {
		t.Fatal(err)
	}
	if found := view.ContainsHashes(hashes, nil).Count(); found != len(hashes) {
		t.Errorf("%d of %d", found, len(hashes))
	}
}
