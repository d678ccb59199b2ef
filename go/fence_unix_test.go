//go:build linux || darwin

package bloomline

import (
	"bytes"
	"syscall"
	"testing"
	"unsafe"

	"github.com/bloomline/bloomline/go/internal/avx2"
	"github.com/bloomline/bloomline/go/internal/staticline"
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

// The same of the rows of matrices, of any bytes: no batch and no probe of one key touches a byte beside the groups.
func TestNothingBesideTheGroups(t *testing.T) {
	withAndWithoutAVX2(t, func(t *testing.T) {
		for _, front := range []bool{false, true} {
			for _, columns := range []int{64, 100, 256, 600, 1100} {
				for _, lines := range []uint64{1, farFrom/uint64((columns+63)/64*64) + 1} {
					params := Params{LineCount: lines, K: 9}
					size := int(orPanic(NewMatrixShape(params, columns)).Bytes())
					v := anyMatrix(t, fenced(t, size, front), params, columns)
					checkMatrixBatches(t, v, v.groups)
				}
			}
		}
	})
}

// The same of static lines, of any bytes: each level answers as Go alone does.
func TestNothingBesideTheStaticLines(t *testing.T) {
	if !avx2.Available {
		t.Log("this CPU has no AVX2: Go alone is compared with itself")
	}
	available := avx2.Available
	defer func() { avx2.Available = available }()
	for _, front := range []bool{false, true} {
		for rows := staticline.MinRows; rows <= staticline.MaxRows; rows++ {
			for _, count := range []uint64{1, 2, 65} {
				shape := rowShapeOf(rows)
				memory, hashBytes := fenced(t, int(count*shape.LineBytes), front), fenced(t, 8*64, front)
				for i, word := range splitMix(len(memory)/8, count) {
					le.PutUint64(memory[8*i:], word)
				}
				hashes := unsafe.Slice((*uint64)(unsafe.Pointer(&hashBytes[0])), 64)
				copy(hashes, randomHashes(64, count))
				l := level{shape, memory, count, levelSizes{}}
				for n := 1; n <= len(hashes); n++ {
					part := hashes[len(hashes)-n:]
					if n%2 == 0 {
						part = hashes[:n]
					}
					avx2.Available = false
					hits, bumped := l.answerWord(part)
					avx2.Available = available
					if again, over := l.answerWord(part); again != hits || over != bumped {
						t.Fatalf("%d rows, %d lines, %d hashes: %x %x, not %x %x", rows, count, n, again, over, hits, bumped)
					}
					if hit, over := l.ask(memory, count, part[0]); hit != hits&1 || over != bumped&1 {
						t.Fatalf("%d rows, %d lines: %x alone is another", rows, count, part[0])
					}
				}
			}
		}
	}
}
