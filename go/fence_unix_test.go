//go:build linux || darwin

package bloomline

import (
	"bytes"
	"syscall"
	"testing"
	"unsafe"
)

// fenced returns size bytes between two pages that may not be touched, and that end at the second or begin
// at the first.
func fenced(t *testing.T, size int, front bool) []byte {
	t.Helper()
	page := syscall.Getpagesize()
	room := (size + page - 1) / page * page
	all, err := syscall.Mmap(-1, 0, room+2*page, syscall.PROT_NONE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Munmap(all) })
	if err := syscall.Mprotect(all[page:page+room], syscall.PROT_READ|syscall.PROT_WRITE); err != nil {
		t.Fatal(err)
	}
	if front {
		return all[page : page+size : page+size]
	}
	return all[page+room-size : page+room : page+room]
}

// No probe and no insert touches a byte beside the lines or the hashes: it would end the test.
func TestNothingBesideTheLines(t *testing.T) {
	eachWay(t, func(t *testing.T) {
		for _, front := range []bool{false, true} {
			for _, count := range []int{1, 2, 65, 20_000} {
				memory, hashBytes := fenced(t, 64*count, front), fenced(t, 8*200, front)
				all := unsafe.Slice((*line)(unsafe.Pointer(&memory[0])), count)
				hashes := unsafe.Slice((*uint64)(unsafe.Pointer(&hashBytes[0])), 200)
				copy(hashes, randomHashes(200, uint64(count)))
				// The first line and the last.
				hashes[0], hashes[1] = 0, ^uint64(0)
				for _, k := range []int{1, 6, 8} {
					clear(memory)
					want := make([]byte, len(memory))
					l := linesWith(all, k, false)
					for n := range 64 {
						part := hashes[len(hashes)-n:]
						if n%2 == 0 {
							part = hashes[:n]
						}
						l.insertInGo(part)
						for _, hash := range part {
							l.insert(hash)
							definitionInsert(want, k, hash)
							if !l.contains(hash) {
								t.Fatalf("%d lines, k %d: %x is lost", count, k, hash)
							}
						}
						if answers := l.answerWord(part); answers != 1<<n-1 {
							t.Fatalf("%d lines, k %d: %x for %d hashes", count, k, answers, n)
						}
					}
					if !bytes.Equal(memory, want) {
						t.Fatalf("%d lines, k %d: other bytes than the definition", count, k)
					}
				}
			}
		}
	})
}
