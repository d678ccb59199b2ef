package bloomline

// What histories ask of a Matrix: its verbs are about columns.

import (
	"fmt"
	"slices"
	"testing"
)

// matrixColumns answers the verbs that only a Matrix has, and how one is made.
func matrixColumns(t *testing.T, h *history, words []string) string {
	verb, args := words[0], words[1:]
	n := func(i int) int { return int(number(t, args[i], 10)) }
	if verb == "new" {
		m, err := NewMatrix(Params{LineCount: number(t, args[0], 10), K: n(1), Seed: number(t, args[2], 10)}, n(3))
		if err == nil {
			h.two[0] = m
		}
		return saidStatus(err)
	}
	m, ok := h.two[0].(*Matrix)
	if !ok {
		return ""
	}
	seed := m.Params().Seed
	switch verb {
	case "columns":
		return fmt.Sprint(m.Columns())
	case "params":
		p := m.Params()
		return fmt.Sprint(p.LineCount, p.K, p.Seed)
	case "insert_into":
		return saidStatus(h.insertInto(m, n(0), readHistoryKeys(t, args[1:])))
	case "set":
		// Keys are dealt out to filters, one after the other.
		filters, views := make([]*Filter, n(1)), make([]View, n(1))
		for i := range filters {
			filters[i] = orPanic(NewWithParams(Params{LineCount: number(t, args[2], 10), K: n(3), Seed: seed}))
		}
		for i, hash := range readHistoryKeys(t, args[4:]).hashed(seed) {
			filters[i%len(filters)].AddHash(hash)
		}
		for i, filter := range filters {
			views[i] = filter.View()
		}
		if len(views) == 1 {
			return saidStatus(m.SetColumn(n(0), views[0]))
		}
		return saidStatus(m.SetColumns(n(0), views, 2))
	case "clear_column":
		return saidStatus(m.ClearColumn(n(0)))
	case "column":
		filter, err := m.Column(n(0))
		if err != nil {
			return saidStatus(err)
		}
		return saidBytes(filter.MarshalBinary())
	case "with_columns":
		other, err := m.WithColumns(n(0))
		if err == nil {
			h.two[0] = other
		}
		return saidStatus(err)
	case "names":
		return saidStatus(m.SetNames(readHistoryKeys(t, args).hashed(seed)))
	case "name":
		name, _ := m.Name(n(0))
		return fmt.Sprint(name)
	case "checksums":
		m.SetChecksums(args[0] == "1")
		return "ok"
	case "contains":
		return saidBitmap(h.rows(t, m, readHistoryKeys(t, args)))
	case "among":
		among := Bitmap(readHistoryKeys(t, args[:1]).hashes)
		return saidBitmap(h.rowsAmong(t, m.View().Among(among), readHistoryKeys(t, args[1:])))
	case "pairs":
		hashes := readHistoryKeys(t, args[1:]).hashed(seed)
		columns := make([]uint32, len(hashes))
		for i, random := range splitMix(len(hashes), number(t, args[0], 10)) {
			columns[i] = uint32(random % uint64(m.Columns()+1))
		}
		answers := m.ContainsPairs(columns, hashes, nil)
		if !slices.Equal(answers, m.View().ContainsPairs(columns, hashes, nil)) {
			t.Error("the view has other pairs")
		}
		return saidBitmap(answers)
	}
	return ""
}

// insertInto adds keys to a column in the way that fits them.
func (h *history) insertInto(m *Matrix, column int, keys historyKeys) error {
	switch {
	case keys.one && !keys.bytes:
		return m.AddHash(column, keys.hashes[0])
	case keys.one && h.slices:
		return m.Add(column, keys.slices[0])
	case keys.one:
		return m.AddString(column, keys.texts[0])
	case !keys.bytes:
		return m.AddHashes(column, keys.hashes)
	case h.slices:
		return m.AddBatch(column, keys.slices)
	}
	return m.AddStrings(column, keys.texts)
}

// rows are the rows of the keys, asked of the matrix and of its view, in a batch and one by one.
func (h *history) rows(t *testing.T, m *Matrix, keys historyKeys) (rows Bitmap) {
	view := m.View()
	for i, hash := range keys.hashed(m.Params().Seed) {
		row := m.ContainsHash(hash, nil)
		if keys.bytes && (!slices.Equal(row, m.ContainsString(keys.texts[i], nil)) ||
			!slices.Equal(row, view.Contains(keys.slices[i], nil))) {
			t.Errorf("%q alone is another", keys.texts[i])
		}
		if m.CountHash(hash) != row.Count() || m.AnyHash(hash) != (row.Count() > 0) || !slices.Equal(row, view.ContainsHash(hash, nil)) {
			t.Errorf("hash %x alone is another", hash)
		}
		rows = append(rows, row...)
	}
	var batch Bitmap
	switch {
	case !keys.bytes:
		batch = m.ContainsHashes(keys.hashes, nil)
	case h.slices:
		batch = m.ContainsBatch(keys.slices, nil)
	default:
		batch = m.ContainsStrings(keys.texts, nil)
	}
	if !slices.Equal(rows, batch) || !slices.Equal(m.SelectHashes(keys.hashed(m.Params().Seed), nil), pairsOf(rows, m.Shape().Words())) {
		t.Error("a batch has other answers")
	}
	return rows
}

// rowsAmong are the rows of the keys, asked of a view of some columns in a batch, as pairs and one by one.
func (h *history) rowsAmong(t *testing.T, view MatrixView, keys historyKeys) (rows Bitmap) {
	hashes := keys.hashed(view.Params().Seed)
	for i, hash := range hashes {
		row := view.ContainsHash(hash, nil)
		if keys.bytes && (!slices.Equal(row, view.ContainsString(keys.texts[i], nil)) || !slices.Equal(row, view.Contains(keys.slices[i], nil))) {
			t.Errorf("%q among some is another", keys.texts[i])
		}
		if view.CountHash(hash) != row.Count() || view.AnyHash(hash) != (row.Count() > 0) {
			t.Errorf("hash %x among some is another", hash)
		}
		rows = append(rows, row...)
	}
	batch := view.ContainsHashes(hashes, nil)
	if keys.bytes {
		batch = view.ContainsStrings(keys.texts, batch)
	}
	if !slices.Equal(rows, batch) || !slices.Equal(view.SelectHashes(hashes, nil), pairsOf(rows, view.Shape().Words())) {
		t.Error("a batch among some has other answers")
	}
	return rows
}
