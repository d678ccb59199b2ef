package bloomline

// Keys added to columns of matrices: which of them were new, and the bits that they set, held to the definition.

import (
	"bytes"
	"errors"
	"fmt"
	"testing"
)

// definitionMatrixAdd sets the bits of a hash in a column, and returns true if one was not set.
func definitionMatrixAdd(groups []byte, lines uint64, columns, k, column int, hash uint64) bool {
	absent := !definitionMatrixContains(groups, lines, columns, k, column, hash)
	group, mask := definitionIndex(hash, lines), definitionMask(hash, k)
	for row := range 512 {
		if mask[row/64]>>(row%64)&1 == 1 {
			groups[(int(group)*512+row)*((columns+63)/64*8)+column/8] |= 1 << (column % 8)
		}
	}
	return absent
}

func TestMatrixAddsIfAbsent(t *testing.T) {
	// Texts, each twice in a row and once more at the end.
	var texts []string
	for i := range 900 {
		texts = append(texts, fmt.Sprint(i/2%300))
	}
	for _, columns := range []int{1, 63, 64, 65, 513} {
		params := Params{LineCount: 5, K: 7, Seed: 3}
		for _, n := range []int{0, 1, 2, 63, 64, 65, 511, 512, 513, len(texts)} {
			some, column := texts[len(texts)-n:], columns/2
			var slices [][]byte
			var hashes []uint64
			for _, text := range some {
				slices, hashes = append(slices, []byte(text)), append(hashes, HashString(text, 3))
			}
			want := make([]bool, n)
			groups := make([]byte, 5*512*((columns+63)/64*8))
			for i, hash := range hashes {
				want[i] = definitionMatrixAdd(groups, 5, columns, 7, column, hash)
			}
			// One by one, and in batches into room that is not zero.
			each := func(add func(m *Matrix, i int) (bool, error)) func(*Matrix) (Bitmap, error) {
				return func(m *Matrix) (Bitmap, error) {
					out := make(Bitmap, (n+63)/64)
					for i := range n {
						if is, err := add(m, i); err != nil {
							return nil, err
						} else if is {
							out[i/64] |= 1 << (i % 64)
						}
					}
					return out, nil
				}
			}
			room := func() Bitmap { return Bitmap(randomHashes((n+63)/64, 9)) }
			for way, add := range []func(m *Matrix) (Bitmap, error){
				each(func(m *Matrix, i int) (bool, error) { return m.AddIfAbsent(column, slices[i]) }),
				each(func(m *Matrix, i int) (bool, error) { return m.AddStringIfAbsent(column, some[i]) }),
				each(func(m *Matrix, i int) (bool, error) { return m.AddHashIfAbsent(column, hashes[i]) }),
				func(m *Matrix) (Bitmap, error) { return m.AddBatchIfAbsent(column, slices, room()) },
				func(m *Matrix) (Bitmap, error) { return m.AddStringsIfAbsent(column, some, nil) },
				func(m *Matrix) (Bitmap, error) { return m.AddHashesIfAbsent(column, hashes, room()) },
			} {
				m := orPanic(NewMatrix(params, columns))
				got, err := add(m)
				if err != nil || len(got) != (n+63)/64 || !bytes.Equal(m.view.groups, groups) {
					t.Fatalf("%d keys in %d columns, way %d: %v, or other bits", n, columns, way, err)
				}
				count := 0
				for i, is := range want {
					if got.Has(i) != is {
						t.Fatalf("key %d of %d in %d columns, way %d: new is %v", i, n, columns, way, !is)
					}
					if is {
						count++
					}
				}
				if got.Count() != count {
					t.Fatalf("%d keys in %d columns, way %d: bits behind the last key", n, columns, way)
				}
			}
		}
	}
	m := orPanic(NewMatrix(Params{LineCount: 5, K: 7, Seed: 3}, 70))
	if first, err := m.AddUint64IfAbsent(69, 42); !first || err != nil || !m.ContainsUint64(42, nil).Has(69) {
		t.Error("an integer is not new", err)
	}
	if again, err := m.AddUint64IfAbsent(69, 42); again || err != nil {
		t.Error("an integer is new twice", err)
	}
	before := m.Clone()
	for _, column := range []int{-1, 70} {
		for _, err := range []error{
			second(m.AddIfAbsent(column, nil)), second(m.AddStringIfAbsent(column, "")), second(m.AddUint64IfAbsent(column, 1)),
			second(m.AddHashIfAbsent(column, 1)), second(m.AddBatchIfAbsent(column, [][]byte{nil}, nil)),
			second(m.AddStringsIfAbsent(column, []string{""}, nil)), second(m.AddHashesIfAbsent(column, []uint64{1}, nil)),
		} {
			if !errors.Is(err, ErrColumn) {
				t.Errorf("there is no column %d: %v", column, err)
			}
		}
	}
	if !m.Equal(before) {
		t.Error("what was refused changed it")
	}
}

// An error tells of another seed, and of no seed which it is.
func TestMatrixTellsOfAnotherSeed(t *testing.T) {
	const own, other = 111222333, 444555666
	m := orPanic(NewMatrix(Params{LineCount: 3, K: 6, Seed: own}, 2))
	fits := "3 lines, k = 6"
	for _, c := range []struct {
		params Params
		want   string
	}{
		{Params{LineCount: 3, K: 6, Seed: other}, fits + ", and the seeds differ"},
		{Params{LineCount: 4, K: 6, Seed: other}, fits + ", and the seeds differ"},
		{Params{LineCount: 4, K: 6, Seed: own}, fits},
		{Params{LineCount: 3, K: 7, Seed: own}, fits},
	} {
		err := m.SetColumn(0, orPanic(NewWithParams(c.params)).View())
		if want := ErrColumnShape.Error() + ": " + c.want; !errors.Is(err, ErrColumnShape) || err.Error() != want {
			t.Errorf("%v: %v, want %s", c.params, err, want)
		}
	}
	for _, view := range []View{{}, orPanic(NewCuckoo(100, 0.01, WithSeed(other))).View()} {
		if err := m.SetColumn(0, view); err.Error() != ErrColumnShape.Error()+": "+fits {
			t.Error("of a filter that is not plain:", err)
		}
	}
}
