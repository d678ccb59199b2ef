package interoperability

// Files of parquet-go with columns of more types: each value is read from its pages and asked for.

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/bloomline/bloomline/go"
	"github.com/bloomline/bloomline/go/parquetfilter"
	"github.com/parquet-go/parquet-go"
)

type manyTypes struct {
	Bytes     []byte   `parquet:"bytes"`
	Date      int32    `parquet:"date,date"`
	Decimal   int64    `parquet:"decimal,decimal(2:15)"`
	Delta     string   `parquet:"delta,delta"`
	Dict      string   `parquet:"dict,dict"`
	DictFixed [16]byte `parquet:"dictfixed,dict"`
	DictInt   int64    `parquet:"dictint,dict"`
	Enum      string   `parquet:"enum,enum"`
	Fixed     [5]byte  `parquet:"fixed"`
	I16       int16    `parquet:"i16"`
	I8        int8     `parquet:"i8"`
	JSON      string   `parquet:"json,json"`
	List      []int64  `parquet:"list"`
	Nested    struct {
		A *int32  `parquet:"a,optional"`
		B *string `parquet:"b,optional,dict"`
	} `parquet:"nested"`
	Optional *int64    `parquet:"optional,optional"`
	Split    float64   `parquet:"split,split"`
	Stamp    time.Time `parquet:"stamp,timestamp(microsecond)"`
	Text     *string   `parquet:"text,optional,zstd"`
	U16      uint16    `parquet:"u16"`
	U32      uint32    `parquet:"u32"`
	U8       uint8     `parquet:"u8"`
	UUID     [16]byte  `parquet:"uuid,uuid"`
}

// Many of the values repeat, so that dictionaries have fewer.
func manyTypesOf(i int) (r manyTypes) {
	n := bloomline.HashUint64(uint64(i%150), 7)
	text := strings.Repeat(fmt.Sprint("s", n%1000003), i%4)
	r.Bytes, r.Delta, r.Dict, r.JSON = []byte(text), text, text, fmt.Sprint(n)
	r.Enum = fmt.Sprint("e", n%5)
	r.Date, r.I16, r.I8, r.U16, r.U32, r.U8 = int32(n), int16(n), int8(n), uint16(n), uint32(n), uint8(n)
	r.Decimal, r.DictInt, r.Split = int64(n%1e15), int64(n), float64(n)/9
	r.Stamp = time.UnixMicro(int64(n >> 16)).UTC()
	for b := range 16 {
		r.DictFixed[b], r.UUID[b] = byte(n>>(b*3)), byte(n>>(b*2))
	}
	copy(r.Fixed[:], r.UUID[:])
	for range i % 3 {
		r.List = append(r.List, int64(n)+int64(len(r.List)))
	}
	if i%9 != 8 {
		a, optional := int32(n), int64(n)
		r.Nested.A, r.Nested.B, r.Optional, r.Text = &a, &text, &optional, &text
	}
	return r
}

func hashOf(t *testing.T, value parquet.Value) uint64 {
	switch value.Kind() {
	case parquet.Int32:
		return parquetfilter.HashInt32(value.Int32())
	case parquet.Int64:
		return parquetfilter.HashInt64(value.Int64())
	case parquet.Float:
		return parquetfilter.HashFloat(value.Float())
	case parquet.Double:
		return parquetfilter.HashDouble(value.Double())
	case parquet.ByteArray, parquet.FixedLenByteArray:
		return parquetfilter.Hash(value.ByteArray())
	}
	t.Fatal("no hash of", value.Kind())
	return 0
}

// values calls each for all values of a column chunk that are not null.
func values(t *testing.T, chunk parquet.ColumnChunk, each func(parquet.Value)) {
	t.Helper()
	pages := chunk.Pages()
	defer pages.Close()
	for {
		page, err := pages.ReadPage()
		if err == io.EOF {
			return
		} else if err != nil {
			t.Fatal(err)
		}
		some, reader := make([]parquet.Value, page.NumValues()), page.Values()
		for {
			n, err := reader.ReadValues(some)
			for _, value := range some[:n] {
				if !value.IsNull() {
					each(value)
				}
			}
			if err == io.EOF {
				break
			} else if err != nil {
				t.Fatal(err)
			}
		}
		parquet.Release(page)
	}
}

func TestNoValueOfAnyTypeIsLost(t *testing.T) {
	leaves := parquet.SchemaOf(manyTypes{}).Columns()
	var filters []parquet.BloomFilterColumn
	for _, path := range leaves {
		filters = append(filters, parquet.SplitBlockFilter(10, path...))
	}
	for _, options := range [][]parquet.WriterOption{
		nil,
		{parquet.PageBufferSize(500), parquet.DataPageVersion(1)},
		{parquet.DictionaryMaxBytes(700)},
	} {
		var out bytes.Buffer
		options = append(options, parquet.BloomFilters(filters...), parquet.MaxRowsPerRowGroup(rows))
		w := parquet.NewGenericWriter[manyTypes](&out, options...)
		for i := range rowGroups * rows {
			if _, err := w.Write([]manyTypes{manyTypesOf(i)}); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		data := out.Bytes()
		f := open(t, data)
		for g, group := range f.RowGroups() {
			for c, chunk := range group.ColumnChunks() {
				at := f.Metadata().RowGroups[g].Columns[c].MetaData.BloomFilterOffset
				view, err := bloomline.OpenParquet(data[at:])
				if err != nil {
					t.Fatal(leaves[c], err)
				}
				asked := 0
				values(t, chunk, func(value parquet.Value) {
					if asked++; !view.ContainsHash(hashOf(t, value)) {
						t.Fatalf("%s, row group %d: %v is lost", leaves[c], g, value)
					}
				})
				if asked < rows/2 {
					t.Error(leaves[c], "has only", asked)
				}
				if view.ContainsHash(1) && view.ContainsHash(1<<40) && view.ContainsHash(1<<60) {
					t.Error(leaves[c], "has everything")
				}
			}
		}
	}
}
