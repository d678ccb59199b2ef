package bloomline

// Filters that goroutines build: the bytes of the definition, what is no key, what is refused.

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
)

// builderColumns is a column of each type, and which rows have a value.
type builderColumns struct {
	*columnValues
	bits []byte
}

func builderColumnsOf(n int) builderColumns {
	c := builderColumns{columnValues: columnOf(n)}
	for i, hash := range randomHashes(n/8+1, 3) {
		c.bits = append(c.bits, byte(hash)*byte(i/40%2)) // none for a while
	}
	return c
}

// addTo adds all columns to a builder, as they are and with nulls.
func (c *builderColumns) addTo(b *ConcurrentBuilder) {
	for _, validity := range []Validity{{}, {Bits: c.bits}, {Bits: c.bits, First: 3}, {Bits: []byte{}}} {
		b.AddHashes(c.uint64s, validity)
		b.AddUint64s(c.uint64s, validity)
		b.AddUint32s(c.uint32s, validity)
		b.AddStrings(c.strings, validity)
		b.AddBytes(c.short, c.data, validity)
		b.AddLargeBytes(c.long, c.data, validity)
		for _, column := range []Column{HashesColumn(c.uint64s, validity), Uint64sColumn(c.int64s, validity),
			Uint32sColumn(c.int32s, validity), StringsColumn(c.strings, validity), BytesColumn(c.short, c.data, validity),
			LargeBytesColumn(c.long, c.data, validity)} {
			b.AddColumn(column)
		}
	}
}

// expected are the hashes of all keys that addTo adds.
func (c *builderColumns) expected(seed uint64) (all []uint64) {
	columns := [][]uint64{c.uint64s}
	keys := c.keys()
	for _, keys := range [][][]byte{keys[0], keys[1], keys[2], keys[2], keys[2]} {
		columns = append(columns, eachHash(keys, func(key []byte) uint64 { return Hash(key, seed) }))
	}
	columns = append(columns, columns...) // AddColumn adds them once more
	for _, hashes := range columns {
		all = append(all, hashes...)
		for _, first := range []int{0, 3} {
			for row, hash := range hashes {
				if at := first + row; at/8 < len(c.bits) && c.bits[at/8]>>(at%8)&1 == 1 {
					all = append(all, hash)
				}
			}
		}
	}
	return all
}

// checkBuilt compares a filter with the definition's of these hashes.
func checkBuilt(t *testing.T, filter *Filter, params Params, hashes []uint64) {
	t.Helper()
	want := make([]byte, params.Bytes())
	for _, hash := range hashes {
		definitionInsert(want, params.K, hash)
	}
	if !bytes.Equal(bytesOf(filter.view.all), want) {
		t.Errorf("%+v, %d hashes: other bytes than the definition", params, len(hashes))
	}
	if filter.KeyCount() != uint64(len(hashes)) || filter.Params() != params {
		t.Errorf("%+v, %d hashes: %v", params, len(hashes), filter)
	}
}

func TestConcurrentBuilder(t *testing.T) {
	for _, params := range []Params{{1, 6, false, 5}, {31, 8, false, 5}, {32, 3, false, 5}, {1000, 11, false, 5}, {farFrom + 7, 7, false, 5}} {
		for _, goroutines := range []int{1, 2, 7} {
			builder := orPanic(NewConcurrentBuilder(params))
			var all []uint64
			var started, done sync.WaitGroup
			started.Add(1)
			for i := range goroutines {
				columns := builderColumnsOf([]int{0, 1, 600, 2048, 2049}[(i+4)%5])
				all = append(all, columns.expected(params.Seed)...)
				done.Add(1)
				go func() {
					defer done.Done()
					started.Wait()
					columns.addTo(builder)
				}()
			}
			started.Done()
			done.Wait()
			if builder.KeyCount() != uint64(len(all)) || builder.Params() != params {
				t.Errorf("%+v: %d keys, not %d", builder.Params(), builder.KeyCount(), len(all))
			}
			checkBuilt(t, orPanic(builder.Finish()), params, all)
		}
	}
}

// After so many calls that the counter of them is no positive number of 32 bits.
func TestConcurrentBuilderAfterManyCalls(t *testing.T) {
	params := Params{LineCount: 20_000, K: 6}
	builder := orPanic(NewConcurrentBuilder(params))
	hashes := randomHashes(3000, 5)
	for i := range hashes {
		builder.next.Store(1<<31 + uint32(i))
		builder.AddHashes(hashes[i:i+1], Validity{})
	}
	checkBuilt(t, orPanic(builder.Finish()), params, hashes)
}

func TestConcurrentBuilderOfOnePart(t *testing.T) {
	// All goroutines meet in the same lines, with few keys at a time.
	params := Params{LineCount: 2000, K: 6}
	builder := orPanic(NewConcurrentBuilder(params))
	all := randomHashes(4*40*100, 1)
	for i := range all {
		all[i] >>= 10
	}
	inParallel(4, func(part int) {
		own := all[part*len(all)/4:][:len(all)/4]
		for ; len(own) > 0; own = own[40:] {
			builder.AddHashes(own[:40], Validity{})
		}
	})
	checkBuilt(t, orPanic(builder.Finish()), params, all)
}

func TestConcurrentBuilderUnion(t *testing.T) {
	params, hashes := Params{LineCount: 700, K: 7}, randomHashes(8000, 1)
	builder, other := orPanic(NewConcurrentBuilder(params)), orPanic(NewWithParams(params))
	builder.AddHashes(hashes[:3000], Validity{})
	other.AddHashes(hashes[3000:])
	for _, params := range []Params{{LineCount: 701, K: 7}, {LineCount: 700, K: 6}, {LineCount: 700, K: 7, Seed: 1}} {
		if err := orPanic(NewConcurrentBuilder(params)).Union(other); err != ErrMismatch {
			t.Error(params, err)
		}
	}
	if err := builder.Union(nil); err != ErrMismatch {
		t.Error(err)
	}
	if err := builder.Union(other); err != nil {
		t.Error(err)
	}
	checkBuilt(t, orPanic(builder.Finish()), params, hashes)
}

func TestConcurrentBuilderFinishToRate(t *testing.T) {
	params := orPanic(orPanic(ParamsForRate(100_000, 0.01)).Foldable(6))
	for _, keys := range []int{0, 1, 1000, 100_000, 400_000} {
		hashes := randomHashes(keys, 3)
		want := orPanic(NewWithParams(params))
		want.AddHashes(hashes)
		orPanic(want.FoldToRate(0.01))
		for _, most := range []float64{0, 0.001, 0.3, 1} {
			builder := orPanic(NewConcurrentBuilder(params))
			builder.AddHashes(hashes, Validity{})
			filter, err := builder.FinishToRate(0.01, most)
			if worth := want.EstimatedRate() <= most; err != nil || (filter != nil) != worth || worth && !filter.Equal(want) {
				t.Errorf("%d keys, at most %v: %v, %v; want %v", keys, most, filter, err, want)
			}
			// A filter that is not worth it says "maybe", of columns too.
			if rows := SelectHashes(filter, hashes[:min(9, keys)], []uint32(nil)); len(rows) != min(9, keys) {
				t.Errorf("%d keys, at most %v: rows %v", keys, most, rows)
			}
		}
	}
	for _, rates := range [][2]float64{{0, 0.5}, {1, 0.5}, {0.1, -0.1}, {0.1, 1.1}} {
		if _, err := orPanic(NewConcurrentBuilder(params)).FinishToRate(rates[0], rates[1]); err != ErrRate {
			t.Error(rates, err)
		}
	}
}

func TestConcurrentBuilderOfClassic(t *testing.T) {
	params, hashes := Params{LineCount: 200, K: 7, Classic: true}, randomHashes(9000, 1)
	want, builder := orPanic(NewWithParams(params)), orPanic(NewConcurrentBuilder(params))
	want.AddHashes(hashes)
	inParallel(3, func(part int) { builder.AddHashes(hashes[3000*part:][:3000], Validity{}) })
	if filter := orPanic(builder.FinishToRate(0.5, 1)); !filter.Equal(want) {
		t.Error(filter, want)
	}
}

// mustPanic checks that a call panics with a message of this package.
func mustPanic(t *testing.T, what string, call func()) {
	t.Helper()
	defer func() {
		if text, _ := recover().(string); !strings.HasPrefix(text, "bloomline: ") {
			t.Errorf("%s: %q", what, text)
		}
	}()
	call()
}

func TestConcurrentBuilderUnfinished(t *testing.T) {
	used := orPanic(NewConcurrentBuilder(Params{LineCount: 40, K: 6}))
	used.AddHashes([]uint64{7}, Validity{})
	orPanic(used.Finish())
	for name, builder := range map[string]*ConcurrentBuilder{"nil": nil, "zero": {}, "finished": used} {
		filter, err := builder.Finish()
		if err != ErrNoLines || !filter.ContainsHash(1) {
			t.Errorf("%s: finished to %v, %v", name, filter, err)
		}
		if filter, err = builder.FinishToRate(0.1, 1); err != ErrNoLines || !filter.ContainsHash(1) {
			t.Errorf("%s: finished to %v, %v", name, filter, err)
		}
		mustPanic(t, name, func() { builder.AddHashes([]uint64{1}, Validity{}) })
		if name != "finished" && (builder.KeyCount() != 0 || builder.Params() != Params{}) {
			t.Errorf("%s: %d keys", name, builder.KeyCount())
		}
	}
	mustPanic(t, "a union with a finished one", func() { used.Union(orPanic(NewWithParams(used.Params()))) })
	if _, err := NewConcurrentBuilder(Params{}); !errors.Is(err, ErrNoLines) {
		t.Error(err)
	}
	// Until it is published, a Swap says "maybe".
	if !NewSwap[Filter](nil).Load().ContainsHash(1) {
		t.Error("an empty Swap says no")
	}
}

func TestConcurrentBuilderBadColumns(t *testing.T) {
	builder := orPanic(NewConcurrentBuilder(Params{LineCount: 40, K: 6}))
	data := []byte("apple")
	for _, offsets := range [][]int32{{-1, 2}, {0, 6}, {0, 3, 2}, {6}} {
		mustPanic(t, fmt.Sprint(offsets), func() { builder.AddBytes(offsets, data, Validity{}) })
		mustPanic(t, fmt.Sprint(offsets), func() {
			long := make([]int64, len(offsets))
			for i, offset := range offsets {
				long[i] = int64(offset)
			}
			builder.AddLargeBytes(long, data, Validity{})
		})
	}
	mustPanic(t, "a negative bit", func() { builder.AddHashes([]uint64{1}, Validity{Bits: []byte{1}, First: -1}) })
	builder.AddBytes(nil, nil, Validity{})
	builder.AddBytes([]int32{5}, data, Validity{})
	checkBuilt(t, orPanic(builder.Finish()), Params{LineCount: 40, K: 6}, nil)
}

func TestParamsForRateWithin(t *testing.T) {
	for _, keys := range []int{0, 1, 1000, 1_000_000} {
		for _, size := range []uint64{0, 63, 64, 4096, 1 << 20, 1 << 30} {
			params, whole := orPanic(ParamsForRateWithin(keys, 0.01, size)), orPanic(ParamsForRate(keys, 0.01))
			if whole.Bytes() <= max(size, 64) && params != whole || params.Bytes() > max(size, 64) {
				t.Errorf("%d keys in %d bytes: %+v", keys, size, params)
			}
			for k := 1; k <= 16 && params != whole; k++ {
				if other := (Params{LineCount: params.LineCount, K: k}); other.Rate(keys) < params.Rate(keys) {
					t.Errorf("%d keys in %d bytes: %+v, and k %d is better", keys, size, params, k)
				}
			}
		}
	}
	for rate, want := range map[float64]error{0: ErrRate, 1: ErrRate, 1e-30: ErrRateTooSmall} {
		if _, err := ParamsForRateWithin(1, rate, 64); err != want {
			t.Error(rate, err)
		}
	}
	if _, err := ParamsForRateWithin(-1, 0.1, 64); err != ErrKeys {
		t.Error(err)
	}
}
