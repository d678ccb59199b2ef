package bloomline

// Columns of matrices as filters by themselves: held to the definition, alone and in groups.

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// columnMembers are columns of a matrix with their answers by the definition.
func columnMembers(t *testing.T, m *Matrix, columns []int) []groupMember {
	t.Helper()
	data := orPanic(m.MarshalBinary())
	view, params := orPanic(OpenMatrixView(data)), m.Params()
	members := make([]groupMember, len(columns))
	for i, column := range columns {
		of := m.ColumnView
		if m.Columns() > 1000 { // one that is opened
			of = view.ColumnView
		}
		members[i] = groupMember{orPanic(of(column)), func(hash uint64) bool {
			return definitionMatrixContains(data, params.LineCount, m.Columns(), params.K, column, hash)
		}}
	}
	return members
}

// filledMatrix is a matrix in which column i has the keys of group member i.
func filledMatrix(t *testing.T, lines uint64, k, columns int) *Matrix {
	t.Helper()
	m := orPanic(NewMatrix(Params{LineCount: lines, K: k}, columns))
	for column := range columns {
		if err := m.AddHashes(column, groupHashes(column, int(lines)*30)); err != nil {
			t.Fatal(err)
		}
	}
	return m
}

func numbersTo(n int) []int {
	numbers := make([]int, n)
	for i := range numbers {
		numbers[i] = i
	}
	return numbers
}

func TestColumnViewIsTheFilter(t *testing.T) {
	eachWay(t, func(t *testing.T) {
		for _, k := range []int{1, 6, 8, 9, 16} {
			m := filledMatrix(t, 3, k, 130)
			for _, column := range []int{0, 63, 64, 129} {
				filter, view := orPanic(m.Column(column)), orPanic(m.ColumnView(column))
				hashes := append(groupHashes(column, 90), groupProbes()...)
				member := columnMembers(t, m, []int{column})[0]
				for _, hash := range hashes {
					if view.ContainsHash(hash) != member.plain(hash) {
						t.Fatalf("column %d, k %d, %x", column, k, hash)
					}
					view.Prefetch(hash)
				}
				for _, n := range []int{0, 1, 7, 64, 65, len(hashes)} {
					if !slices.Equal(view.ContainsHashes(hashes[:n], nil), filter.ContainsHashes(hashes[:n], nil)) {
						t.Fatalf("%d hashes, column %d, k %d", n, column, k)
					}
				}
				keys := []string{"apple", "pear"}
				if !slices.Equal(view.ContainsStrings(keys, nil), filter.ContainsStrings(keys, nil)) {
					t.Fatal("keys")
				}
				if params, ok := view.Params(); !ok || params != m.Params() {
					t.Fatalf("%+v, %v", params, ok)
				}
				own := filter.View()
				says := []float64{view.Fill(), view.EstimatedKeys(), view.EstimatedRate(), view.WorstLineRate()}
				if want := []float64{own.Fill(), own.EstimatedKeys(), own.EstimatedRate(), own.WorstLineRate()}; !slices.Equal(says, want) {
					t.Fatalf("%v, not %v", says, want)
				}
				if want := fmt.Sprintf("bloomline.View{column %d, 3 lines, k %d}", column, k); view.String() != want {
					t.Errorf("%q, not %q", view, want)
				}
			}
		}
	})
}

func TestColumnViewErrors(t *testing.T) {
	m := filledMatrix(t, 1, 6, 3)
	for _, column := range []int{-1, 3, math.MaxInt} {
		if _, err := m.ColumnView(column); !errors.Is(err, ErrColumn) {
			t.Errorf("column %d: %v", column, err)
		}
		if view, err := m.View().ColumnView(column); !errors.Is(err, ErrColumn) || !view.ContainsHash(1) {
			t.Errorf("column %d of a view: %v", column, err)
		}
	}
	if _, err := (*Matrix)(nil).ColumnView(0); !errors.Is(err, ErrColumn) {
		t.Error(err)
	}
}

// A matrix in a file, mapped.
func TestMappedMatrix(t *testing.T) {
	m, dir := filledMatrix(t, 3, 6, 70), t.TempDir()
	if err := m.SetNames(make([]uint64, 70)); err != nil {
		t.Fatal(err)
	}
	path, other := filepath.Join(dir, "matrix"), filepath.Join(dir, "filter")
	if err := errors.Join(m.Save(path), mustNew(t, 10, 0.01).Save(other)); err != nil {
		t.Fatal(err)
	}
	for _, open := range []func(string) (*MappedMatrix, error){OpenMatrix, OpenMatrixUnverified} {
		mapped := orPanic(open(path))
		column := orPanic(mapped.ColumnView(69))
		for _, hash := range append(groupHashes(69, 20), groupProbes()...) {
			answers := m.ContainsHash(hash, nil)
			if !slices.Equal(mapped.ContainsHash(hash, nil), answers) || column.ContainsHash(hash) != answers.Has(69) {
				t.Fatalf("%x: another answer", hash)
			}
			if mapped.CountHash(hash) != answers.Count() || mapped.AnyHash(hash) != (answers.Count() > 0) {
				t.Fatalf("%x: another number", hash)
			}
		}
		if name, ok := mapped.Name(69); !ok || name != 0 || mapped.Columns() != 70 {
			t.Errorf("name %d, %v", name, ok)
		}
		if err := errors.Join(mapped.Close(), mapped.Close()); err != nil || mapped.Columns() != 0 {
			t.Error(err)
		}
		var wrong *fs.PathError
		if _, err := open(other); !errors.Is(err, ErrLayout) || !errors.As(err, &wrong) || wrong.Path != other {
			t.Errorf("a filter: %v", err)
		}
		if _, err := open(dir); !errors.Is(err, ErrNotAFile) {
			t.Errorf("a directory: %v", err)
		}
		if _, err := open(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("no file: %v", err)
		}
	}
	if _, err := Open(path); !errors.Is(err, ErrLayout) {
		t.Errorf("a matrix as a filter: %v", err)
	}
	data := orPanic(os.ReadFile(path))
	data[5] ^= 1
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenMatrix(path); !errors.Is(err, ErrChecksum) {
		t.Errorf("damaged: %v", err)
	}
	if err := (*MappedMatrix)(nil).Close(); err != nil {
		t.Error(err)
	}
}

// A column becomes one of another matrix, folded if that is smaller.
func TestColumnViewIsSet(t *testing.T) {
	from := filledMatrix(t, 12, 6, 70)
	for _, lines := range []uint64{12, 3} {
		to := orPanic(NewMatrix(Params{LineCount: lines, K: 6}, 2))
		if err := to.SetColumn(1, orPanic(from.ColumnView(69))); err != nil {
			t.Fatal(err)
		}
		filter := orPanic(from.Column(69))
		for filter.Params().LineCount > lines {
			if err := filter.Fold(); err != nil {
				t.Fatal(err)
			}
		}
		if got := orPanic(to.Column(1)); !slices.Equal(bytesOf(got.view.all), bytesOf(filter.view.all)) {
			t.Errorf("%d lines: another filter", lines)
		}
	}
}

func TestGroupOfColumns(t *testing.T) {
	eachWay(t, func(t *testing.T) {
		for _, shape := range []struct{ lines, k, columns int }{{2, 6, 64}, {3, 8, 200}, {1, 12, 3000}} {
			m := filledMatrix(t, uint64(shape.lines), shape.k, shape.columns)
			all := numbersTo(shape.columns)
			backwards, twice, mixed := slices.Clone(all), []int{9, 3, 9, 4, 9, 63, 3}, []int(nil)
			slices.Reverse(backwards)
			for i := range min(len(all), 300) {
				mixed = append(mixed, i*271%len(all))
			}
			for _, order := range [][]int{all[:min(len(all), 300)], backwards[:min(len(all), 300)], twice, mixed, all[7:60], {0, 1, len(all) - 1}, {5, 5, 5, 5}} {
				checkGroup(t, columnMembers(t, m, order))
			}
		}
	})
}

func TestGroupOfColumnsAmongOthers(t *testing.T) {
	eachWay(t, func(t *testing.T) {
		first, second := filledMatrix(t, 2, 6, 130), filledMatrix(t, 2, 6, 130)
		a, b := columnMembers(t, first, numbersTo(130)), columnMembers(t, second, numbersTo(130))
		var members []groupMember
		for i := range 60 {
			members = append(members, groupOther(t, i))
		}
		members = append(members, a[:64]...)
		for i := range 60 {
			members = append(members, b[i*7%130], groupNative(t, i, 5, 6), a[129-i])
		}
		checkGroup(t, append(members, b...))
	})
}
