package bloomline

// Keys added to columns of matrices.

// Add adds a key to a column. To fill a column from nothing, fill a [Filter] and set it.
//
// Errors: [ErrColumn] if there is no such column.
func (m *Matrix) Add(column int, key []byte) error {
	return m.AddHash(column, Hash(key, m.seed()))
}

// AddString is [Matrix.Add] for a string.
func (m *Matrix) AddString(column int, key string) error {
	return m.AddHash(column, HashString(key, m.seed()))
}

// AddUint64 is [Matrix.Add] for an integer: see [HashUint64].
func (m *Matrix) AddUint64(column int, key uint64) error {
	return m.AddHash(column, HashUint64(key, m.seed()))
}

// AddHash is [Matrix.Add] for the hash of a key: one that [Matrix.Hash] made, or any other that is well mixed
// over all 64 bits.
func (m *Matrix) AddHash(column int, hash uint64) error {
	return m.AddHashes(column, []uint64{hash})
}

// AddBatch is [Matrix.Add] for many keys.
func (m *Matrix) AddBatch(column int, keys [][]byte) error {
	return addToColumn(m, column, keys)
}

// AddStrings is [Matrix.AddBatch] for strings.
func (m *Matrix) AddStrings(column int, keys []string) error {
	return addToColumn(m, column, keys)
}

func addToColumn[K bytesOrString](m *Matrix, column int, keys []K) error {
	if m.seen(); m.hasColumns(column, 1) != nil {
		return ErrColumn
	}
	eachBatch(m.seed(), keys, func(hashes []uint64) { m.addHashes(column, hashes) })
	return nil
}

// AddHashes is [Matrix.AddHash] for many hashes.
func (m *Matrix) AddHashes(column int, hashes []uint64) error {
	if m.seen(); m.hasColumns(column, 1) != nil {
		return ErrColumn
	}
	m.addHashes(column, hashes)
	return nil
}

// addHashes adds hashes to a column that there is.
func (m *Matrix) addHashes(column int, hashes []uint64) {
	for _, hash := range hashes {
		var rows [maxK]int
		group := m.view.groupOf(hash)[column/8:]
		for _, row := range m.view.shape.rowsOf(hash, &rows) {
			group[row] |= 1 << (column % 8)
		}
	}
}

// ---- adding what is absent ----

// AddIfAbsent is [Matrix.Add], and returns true if the key was new in the column. A key that was added before is
// never new; a new key passes for present at the false-positive rate.
//
// Errors: as Add.
func (m *Matrix) AddIfAbsent(column int, key []byte) (bool, error) {
	return m.AddHashIfAbsent(column, Hash(key, m.seed()))
}

// AddStringIfAbsent is [Matrix.AddIfAbsent] for a string.
func (m *Matrix) AddStringIfAbsent(column int, key string) (bool, error) {
	return m.AddHashIfAbsent(column, HashString(key, m.seed()))
}

// AddUint64IfAbsent is [Matrix.AddIfAbsent] for an integer.
func (m *Matrix) AddUint64IfAbsent(column int, key uint64) (bool, error) {
	return m.AddHashIfAbsent(column, HashUint64(key, m.seed()))
}

// AddHashIfAbsent is [Matrix.AddIfAbsent] for a hash.
func (m *Matrix) AddHashIfAbsent(column int, hash uint64) (bool, error) {
	if m.seen(); m.hasColumns(column, 1) != nil {
		return false, ErrColumn
	}
	return m.addHashIfAbsent(column, hash), nil
}

// AddBatchIfAbsent is [Matrix.AddIfAbsent] for many keys, in order: bit i of the result is set if key i was new.
// It uses out if that is large enough: see [Bitmap].
//
// Errors: as Add; there is then no result.
func (m *Matrix) AddBatchIfAbsent(column int, keys [][]byte, out Bitmap) (Bitmap, error) {
	return addToColumnIfAbsent(m, column, keys, out)
}

// AddStringsIfAbsent is [Matrix.AddBatchIfAbsent] for strings.
func (m *Matrix) AddStringsIfAbsent(column int, keys []string, out Bitmap) (Bitmap, error) {
	return addToColumnIfAbsent(m, column, keys, out)
}

func addToColumnIfAbsent[K bytesOrString](m *Matrix, column int, keys []K, out Bitmap) (Bitmap, error) {
	if m.seen(); m.hasColumns(column, 1) != nil {
		return nil, ErrColumn
	}
	return bitOfEach(m.seed(), keys, out, func(hashes, out []uint64) { m.addAbsent(column, hashes, out) }), nil
}

// AddHashesIfAbsent is [Matrix.AddBatchIfAbsent] for hashes.
func (m *Matrix) AddHashesIfAbsent(column int, hashes []uint64, out Bitmap) (Bitmap, error) {
	if m.seen(); m.hasColumns(column, 1) != nil {
		return nil, ErrColumn
	}
	out = out.sized(len(hashes))
	m.addAbsent(column, hashes, out)
	return out, nil
}

// addAbsent adds hashes to a column that there is, and sets the bits of those that were new in words that are zero.
func (m *Matrix) addAbsent(column int, hashes, out []uint64) {
	for i, hash := range hashes {
		if m.addHashIfAbsent(column, hash) {
			out[i/64] |= 1 << (i % 64)
		}
	}
}

// addHashIfAbsent adds a hash to a column that there is.
func (m *Matrix) addHashIfAbsent(column int, hash uint64) bool {
	var rows [maxK]int
	group, bit, all := m.view.groupOf(hash)[column/8:], byte(1)<<(column%8), byte(255)
	for _, row := range m.view.shape.rowsOf(hash, &rows) {
		all &= group[row]
		group[row] |= bit
	}
	return all&bit == 0
}

// seen sees to it that there are columns to add to.
func (m *Matrix) seen() {
	if m == nil || m.view.shape.columns == 0 {
		panic("bloomline: insert into a zero Matrix: create it with NewMatrix")
	}
}
