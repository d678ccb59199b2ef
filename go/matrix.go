package bloomline

// Matrices: the lines of many filters transposed. docs/format/matrix.md of the project defines them, and its golden
// files hold this code to it.

import (
	"fmt"
	"math/bits"
	"runtime"
	"slices"
)

// Matrix asks many filters about one key at once: those of the tables of an LSM tree, of shards, of segments. A
// probe of 512 filters reads k cache lines, where the filters alone have 512, and answers in a bit for each.
//
// Its columns are filters of one shape and seed, whose lines are transposed: a column taken out is the filter,
// byte for byte, and rates and memory are those of single filters. Filters come in by [Matrix.SetColumn], or
// keys one by one by [Matrix.Add]. [Group] is for filters of different shapes.
//
// An encoded matrix in an object store need not be read whole: see [MatrixShape].
//
// Any number of goroutines may read it at once; changing it requires exclusive access.
//
// The zero Matrix is a place to unmarshal into. It has no columns, and so no answers. Adding to it panics.
//
// A copy of the struct would share its memory, and go vet reports one: use [Matrix.Clone]. A nil Matrix
// answers as the zero one does.
type Matrix struct {
	_ noCopy
	matrixData
}

type matrixData struct {
	view MatrixView // of groups and names that are this matrix's own
}

// NewMatrix returns a matrix of so many empty columns of these Params, without names and checksums.
//
// Errors: those of [NewMatrixShape]; [ErrOutOfMemory].
func NewMatrix(params Params, columns int) (*Matrix, error) {
	shape, err := NewMatrixShape(params, columns)
	if err != nil {
		return nil, err
	}
	m := new(Matrix)
	m.view.shape = shape
	if m.view.groups, err = newBytes(int(shape.Bytes())); err != nil {
		return nil, err
	}
	return m, nil
}

// ---- columns ----

// SetColumn makes the filter of a view column number column, in the place of what was there. It must be a
// plain one, or the view of a counting filter, of the matrix's k and seed. If it has 2, 4, 8 and so on times
// the lines, it is folded: see [Filter.Fold].
//
// Each row of the matrix is read and written for it. [Matrix.SetColumns] does so once for 64 columns.
//
// Errors: [ErrColumn] if there is no such column; [ErrColumnShape] if the filter does not fit. The matrix is
// unchanged.
func (m *Matrix) SetColumn(column int, filter View) error {
	return m.SetColumns(column, []View{filter}, 1)
}

// SetColumns makes the filters of these views the columns from first on, as [Matrix.SetColumn], on up to so
// many goroutines; 0: on as many as there are CPUs. Give it runs of 64, from a multiple of 64 on: each word of
// the rows is then written once.
//
// Errors: as SetColumn; the matrix is then unchanged.
func (m *Matrix) SetColumns(first int, filters []View, goroutines int) error {
	if err := m.hasColumns(first, len(filters)); err != nil || len(filters) == 0 {
		return err
	}
	sources := make([]columnSource, len(filters))
	for i := range filters {
		var err error
		if sources[i], err = m.source(&filters[i]); err != nil {
			return err
		}
	}
	if goroutines <= 0 {
		goroutines = runtime.GOMAXPROCS(0)
	}
	// Fewer bytes than these are transposed sooner than another goroutine has started.
	const leastBytes = 1 << 20
	count := int(m.view.shape.params.LineCount)
	parts := min(goroutines, count, max(1, count*len(filters)*lineBytes/leastBytes))
	inParallel(parts, func(part int) {
		low := int(firstLine(uint64(count), part, parts))
		high := int(firstLine(uint64(count), part+1, parts))
		m.put(first, sources, low, high)
	})
	runtime.KeepAlive(filters)
	return nil
}

// columnSource is a filter that becomes a column: the line i of the column is the OR of the lines from
// i << folds to the next one's.
type columnSource struct {
	all   []line
	folds int
}

func (m *Matrix) source(filter *View) (columnSource, error) {
	own, params := m.view.shape.params, filter.shape()
	times := params.LineCount / own.LineCount
	if params.LineCount%own.LineCount != 0 || bits.OnesCount64(times) != 1 ||
		params.K != own.K || params.Seed != own.Seed || params.Classic {
		// Seeds may be secrets.
		seeds := ""
		if params.LineCount != 0 && params.Seed != own.Seed {
			seeds = ", and the seeds differ"
		}
		return columnSource{}, fmt.Errorf("%w: %d lines, k = %d%s", ErrColumnShape, own.LineCount, own.K, seeds)
	}
	all := filter.all
	if filter.column.isThere() {
		var err error
		if all, err = filter.column.lines(); err != nil {
			return columnSource{}, err
		}
	}
	return columnSource{all, bits.TrailingZeros64(times)}, nil
}

// at is a line of the column, in room if it has to be computed.
func (s *columnSource) at(i int, room *line) *line {
	if s.folds == 0 {
		return &s.all[i]
	}
	folded := s.all[i<<s.folds:][:1<<s.folds]
	*room = folded[0]
	for j := range folded[1:] {
		room.or(&folded[1+j])
	}
	return room
}

// put writes the lines from low to high of these columns into their groups.
func (m *Matrix) put(first int, sources []columnSource, low, high int) {
	words, size := m.view.shape.Words(), m.view.shape.groupBytes()
	var room [64]line
	var from [64]*line
	var block [64]uint64
	for len(sources) > 0 {
		word, bit := first/64, first%64
		now := sources[:min(64-bit, len(sources))]
		set := ^uint64(0) >> (64 - len(now)) << bit
		for number := low; number < high; number++ {
			for i := range now {
				from[i] = now[i].at(number, &room[i])
			}
			group := m.view.groups[number*size:][:size]
			for lane := range lanes {
				block = [64]uint64{}
				if len(now) <= fewColumns {
					for i := range now {
						from[i].spread(lane, bit+i, &block)
					}
				} else {
					for i := range now {
						block[bit+i] = from[i].lane(lane)
					}
					transpose(&block)
				}
				for i, bits := range block {
					row := group[((64*lane+i)*words+word)*wordBytes:]
					le.PutUint64(row, le.Uint64(row)&^set|bits)
				}
			}
		}
		first, sources = first+len(now), sources[len(now):]
	}
}

// fewColumns is up to how many their bits are moved one by one sooner than a square is transposed.
const fewColumns = 6

// spread sets bit column of word i if bit i of the lane is set.
func (l *line) spread(lane, column int, block *[64]uint64) {
	bits := l.lane(lane)
	for i := range block {
		block[i] |= bits & 1 << column
		bits >>= 1
	}
}

// transpose makes bit i of word j what bit j of word i was: it exchanges two quarters of the square, then of
// each quarter, and so on.
func transpose(block *[64]uint64) {
	exchange(block, 32, 0x00000000FFFFFFFF)
	exchange(block, 16, 0x0000FFFF0000FFFF)
	exchange(block, 8, 0x00FF00FF00FF00FF)
	exchange(block, 4, 0x0F0F0F0F0F0F0F0F)
	exchange(block, 2, 0x3333333333333333)
	exchange(block, 1, 0x5555555555555555)
}

// exchange is a step of transpose. The masks say to the compiler that no shift is too far, and no word behind
// the last.
func exchange(block *[64]uint64, size uint, mask uint64) {
	for first := uint(0); first < 64; first += 2 * size {
		for i := first; i < first+size; i++ {
			low, high := block[i&63], block[(i+size)&63]
			swapped := (low>>(size&63) ^ high) & mask
			block[i&63] = low ^ swapped<<(size&63)
			block[(i+size)&63] = high ^ swapped
		}
	}
}

// ClearColumn empties a column.
//
// Errors: [ErrColumn] if there is no such column.
func (m *Matrix) ClearColumn(column int) error {
	if err := m.hasColumns(column, 1); err != nil {
		return err
	}
	size := m.view.shape.rowBytes()
	for at := column / 8; at < len(m.view.groups); at += size {
		m.view.groups[at] &^= 1 << (column % 8)
	}
	return nil
}

// Clear empties all columns.
func (m *Matrix) Clear() {
	clear(orZero(m).view.groups)
}

// Column returns a column as a filter, whose KeyCount is 0, which means unknown.
//
// Errors: [ErrColumn] if there is no such column; [ErrOutOfMemory].
func (m *Matrix) Column(column int) (*Filter, error) {
	if err := m.hasColumns(column, 1); err != nil {
		return nil, err
	}
	filter, err := NewWithParams(m.view.shape.params)
	if err != nil {
		return nil, err
	}
	row, size := m.view.groups[column/8:], m.view.shape.rowBytes()
	lines := bytesOf(filter.view.all)
	for i := range lines {
		for bit := range 8 {
			lines[i] |= row[(8*i+bit)*size] >> (column % 8) & 1 << bit
		}
	}
	return filter, nil
}

// WithColumns returns a copy with another number of columns: the first of these, and empty ones behind them.
// Their names stay; new columns are named 0.
//
// Errors: as [NewMatrix].
func (m *Matrix) WithColumns(columns int) (*Matrix, error) {
	m = orZero(m)
	copied, err := NewMatrix(m.view.shape.params, columns)
	if err != nil {
		return nil, err
	}
	from, into := m.view.shape.rowBytes(), copied.view.shape.rowBytes()
	cut := columns < m.view.shape.columns
	for i := range len(m.view.groups) / from {
		row := copied.view.groups[i*into:][:into]
		copy(row, m.view.groups[i*from:][:from])
		if last := row[into-wordBytes:]; cut {
			le.PutUint64(last, le.Uint64(last)&copied.view.shape.lastWord())
		}
	}
	if m.view.shape.named {
		if copied.view.names, err = newSlice[byte](columns * wordBytes); err != nil {
			return nil, err
		}
		copy(copied.view.names, m.view.names)
	}
	copied.view.shape.named, copied.view.shape.summed = m.view.shape.named, m.view.shape.summed
	return copied, nil
}

// hasColumns returns what is wrong with so many columns from first on.
func (m *Matrix) hasColumns(first, count int) error {
	if columns := orZero(m).view.shape.columns; first < 0 || count > columns || first > columns-count {
		return ErrColumn
	}
	return nil
}

// ---- names and checksums ----

// SetNames gives each column a name: what the caller wants it to be called, such as the number of a table.
// They are encoded with the matrix. No names remove them all.
//
// Errors: [ErrColumns] if there are neither as many names as columns nor none. The old names stay.
func (m *Matrix) SetNames(names []uint64) error {
	if columns := orZero(m).view.shape.columns; len(names) != 0 && len(names) != columns {
		return ErrColumns
	}
	if m == nil {
		return nil
	}
	all, err := newSlice[byte](len(names) * wordBytes)
	if err != nil {
		return err
	}
	for i, name := range names {
		le.PutUint64(all[i*wordBytes:], name)
	}
	m.view.names, m.view.shape.named = all, len(names) > 0
	return nil
}

// Name returns the name of a column; false if it has none.
func (m *Matrix) Name(column int) (uint64, bool) {
	return orZero(m).view.Name(column)
}

// SetChecksums sets whether the encoded matrix has a checksum for each group, so that a reader of single
// ranges can verify them. They cost 8 bytes for each line of a column, and the time to read the groups once
// more when it is encoded. At first it has none.
func (m *Matrix) SetChecksums(checksums bool) {
	if m != nil && m.view.shape.columns > 0 {
		m.view.shape.summed = checksums
	}
}

// ---- asking ----

// Contains probes all columns for a key: bit c of the answers is that of column c, in out if that is large
// enough, see [Bitmap]. False means definitely absent from the column.
func (m *Matrix) Contains(key []byte, out Bitmap) Bitmap {
	return orZero(m).view.answer(m.Hash(key), out)
}

// ContainsString is [Matrix.Contains] for a string.
func (m *Matrix) ContainsString(key string, out Bitmap) Bitmap {
	return orZero(m).view.answer(HashString(key, m.seed()), out)
}

// ContainsUint64 is [Matrix.Contains] for an integer: see [HashUint64].
func (m *Matrix) ContainsUint64(key uint64, out Bitmap) Bitmap {
	return orZero(m).view.answer(HashUint64(key, m.seed()), out)
}

// ContainsHash is [Matrix.Contains] for the hash of a key, made by [Matrix.Hash].
func (m *Matrix) ContainsHash(hash uint64, out Bitmap) Bitmap {
	return orZero(m).view.answer(hash, out)
}

// ContainsHashes is [MatrixView.ContainsHashes].
func (m *Matrix) ContainsHashes(hashes []uint64, out Bitmap) Bitmap {
	return m.View().ContainsHashes(hashes, out)
}

// ContainsBatch is [MatrixView.ContainsBatch].
func (m *Matrix) ContainsBatch(keys [][]byte, out Bitmap) Bitmap {
	return matrixKeys(orZero(m).view, keys, out)
}

// ContainsStrings is [MatrixView.ContainsStrings].
func (m *Matrix) ContainsStrings(keys []string, out Bitmap) Bitmap {
	return matrixKeys(orZero(m).view, keys, out)
}

// SelectHashes is [MatrixView.SelectHashes].
func (m *Matrix) SelectHashes(hashes []uint64, pairs []MatrixPair) []MatrixPair {
	return m.View().SelectHashes(hashes, pairs)
}

// ContainsPairs is [MatrixView.ContainsPairs].
func (m *Matrix) ContainsPairs(columns []uint32, hashes []uint64, out Bitmap) Bitmap {
	return m.View().ContainsPairs(columns, hashes, out)
}

// CountHash returns how many columns may have the key of a hash.
func (m *Matrix) CountHash(hash uint64) int { return orZero(m).view.count(hash) }

// AnyHash is [MatrixView.AnyHash].
func (m *Matrix) AnyHash(hash uint64) bool { return orZero(m).view.any(hash) }

// Prefetch is [MatrixView.Prefetch].
func (m *Matrix) Prefetch(hash uint64) { orZero(m).view.prefetch(hash) }

func (m *Matrix) seed() uint64 { return orZero(m).view.shape.params.Seed }

// ---- what it is ----

// View returns the matrix to read: cheap to pass on, also to probe some columns, see [MatrixView.Among]. It sees what
// is changed later, and must not be used while something is.
func (m *Matrix) View() MatrixView { return orZero(m).view }

// Shape returns the shape of the matrix, which is what a reader of single ranges needs.
func (m *Matrix) Shape() MatrixShape { return orZero(m).view.shape }

// Params returns line count, k and seed of the columns.
func (m *Matrix) Params() Params { return orZero(m).view.shape.params }

// Columns returns the number of columns.
func (m *Matrix) Columns() int { return orZero(m).view.shape.columns }

// ---- bytes ----

func (m matrixData) cloned() matrixData {
	m.view.groups = bytesOf(cloneLines(linesOf(m.view.groups)))
	m.view.names = slices.Clone(m.view.names)
	return m
}

func (m matrixData) encoded() encoded {
	shape := &m.view.shape
	return encode(shape.footer(), m.view.groups, m.view.names, shape.checksums(m.view.groups))
}

func (m *Matrix) decode(body []byte, f footer, keep bool) error {
	view, err := f.matrixView(body, true)
	if err != nil {
		return err
	}
	groups, err := takeLines(view.groups, keep)
	if err != nil {
		return err
	}
	view.groups, view.names = bytesOf(groups), slices.Clone(view.names)
	m.view = view
	return nil
}
