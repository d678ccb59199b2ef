package bloomline

import (
	"fmt"
	"testing"
)

// One key in many filters: as a matrix, with and without assembly, as a group, and one by one. And filters of
// 256 KiB made the columns of a matrix.
func BenchmarkMatrix(b *testing.B) {
	for _, size := range []struct{ columns, lines int }{{64, 1 << 10}, {512, 1 << 7}, {512, 1 << 10}, {4096, 1 << 7}} {
		m, filters, _ := matrixOf(b, Params{LineCount: uint64(size.lines), K: 6}, size.columns)
		views := make([]View, len(filters))
		for i, filter := range filters {
			views[i] = filter.View()
		}
		group, hashes, out := NewGroup(views), randomHashes(1<<12, 7), make(Bitmap, m.Shape().Words())
		run := func(name string, ask func(hash uint64)) {
			b.Run(fmt.Sprintf("%d of %d lines/%s", size.columns, size.lines, name), func(b *testing.B) {
				for i := 0; b.Loop(); i++ {
					ask(hashes[i&(1<<12-1)])
				}
			})
		}
		run("matrix", func(hash uint64) { m.ContainsHash(hash, out) })
		run("matrix, plain Go", func(hash uint64) {
			var rows [maxK]int
			andRowsInGo(m.view.groupOf(hash), m.view.shape.rowsOf(hash, &rows), out)
		})
		columns := make([]View, size.columns)
		for i := range columns {
			columns[i] = orPanic(m.ColumnView(i))
		}
		ofColumns := NewGroup(columns)
		run("group of columns", func(hash uint64) { ofColumns.ContainsHash(hash, out) })
		run("group", func(hash uint64) { group.ContainsHash(hash, out) })
		run("single", func(hash uint64) {
			for _, filter := range filters {
				filter.ContainsHash(hash)
			}
		})
	}
	m, filters, _ := matrixOf(b, Params{LineCount: 1 << 12, K: 6}, 64)
	views := make([]View, len(filters))
	for i, filter := range filters {
		views[i] = filter.View()
	}
	b.Run("SetColumn", func(b *testing.B) {
		b.SetBytes(int64(m.Shape().Bytes() / 64))
		for b.Loop() {
			if err := m.SetColumn(5, views[5]); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("SetColumns", func(b *testing.B) {
		b.SetBytes(int64(m.Shape().Bytes()))
		for b.Loop() {
			if err := m.SetColumns(0, views, 1); err != nil {
				b.Fatal(err)
			}
		}
	})
}
