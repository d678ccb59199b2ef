package bloomline

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/bloomline/bloomline/go/internal/format"
	"github.com/bloomline/bloomline/go/internal/staticline"
)

// Any bytes: the reader is right by the page, and what it accepts is probed as the definition says, one by
// one and in a batch.
func FuzzOpenView(f *testing.F) {
	for _, count := range []uint64{1, 2, 5} {
		filter, _ := filterOf(f, count, int(count)*3, randomHashes(20, count))
		data, _ := filter.MarshalBinary()
		f.Add(data, uint64(7))
		f.Add(data[:len(data)-1], uint64(1))
		f.Add(data[64:], uint64(1))
	}
	f.Add([]byte(nil), uint64(0))
	addGolden(f, "../golden/*/*.bloomline")
	addGolden(f, "../golden/*/*/*.bloomline")
	f.Fuzz(func(t *testing.T, data []byte, seed uint64) {
		hashes := randomHashes(70, seed)
		checkReader(t, data, hashes)
		checkReader(t, repaired(data), hashes)
	})
}

func addGolden(f *testing.F, pattern string) {
	golden, err := filepath.Glob(pattern)
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range golden {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data, uint64(1))
	}
}

// repaired gives bytes the checksums that they ought to have, which no fuzzer would find, so
// that the rules behind them are reached.
func repaired(data []byte) []byte {
	if len(data) < footerBytes {
		return data
	}
	data = bytes.Clone(data)
	lines, footer := data[:len(data)-footerBytes], data[len(data)-footerBytes:]
	copy(footer[format.AtMagic:], format.Magic)
	le.PutUint16(footer[format.AtVersion:], format.Version)
	le.PutUint64(footer[format.AtLinesChecksum:], checksum(lines))
	le.PutUint64(footer[format.AtFooterChecksum:], checksum(footer[:format.AtFooterChecksum]))
	return data
}

func checkReader(t *testing.T, data []byte, hashes []uint64) {
	view, err := OpenView(data)
	loose, looseErr := OpenViewUnverified(data)
	if err == nil && looseErr != nil {
		t.Fatal("verified, but not otherwise:", looseErr)
	}
	if looseErr != nil {
		if loose.ContainsHashes(hashes, nil).Count() != len(hashes) {
			t.Fatal("what is no filter says no")
		}
	}
	answers := loose.ContainsHashes(hashes, nil)
	for i, hash := range hashes {
		if answers.Has(i) != loose.ContainsHash(hash) {
			t.Fatalf("hash %x: in a batch %v", hash, answers.Has(i))
		}
		if looseErr == nil && (err == nil || definitionSays(data)) && answers.Has(i) != definitionAnswer(data, hash) {
			t.Fatalf("hash %x: want %v", hash, !answers.Has(i))
		}
	}
	_, static := loose.StaticParams()
	for i := range 50 {
		key := []byte{byte(i)}
		if want := !static || loose.Contains(key); StaticBlockContains(data, key) != want {
			t.Fatalf("key %d in a block: want %v", i, want)
		}
	}
	var filter Filter
	if n, decoded := filter.ReadFrom(bytes.NewReader(data)); decoded != err || err == nil && n != int64(len(data)) {
		// A cuckoo filter is none of these, nor is a static or growing one.
		layout := le.Uint16(data[len(data)-footerBytes+format.AtLayout:])
		if decoded != ErrLayout || !slices.Contains([]uint16{layoutCuckoo.number, layoutStatic.number, layoutGrowing.number}, layout) {
			t.Fatalf("ReadFrom: %d, %v; OpenView: %v", n, decoded, err)
		}
		return
	}
	if looseErr != nil {
		return
	}
	params, _ := loose.Params()
	lines := data[:params.Bytes()]
	for i, hash := range hashes {
		if err == nil && filter.ContainsHash(hash) != answers.Has(i) {
			t.Fatalf("hash %x: want %v", hash, !answers.Has(i))
		}
	}
	if err == nil {
		again, _ := filter.MarshalBinary()
		if len(lines) == len(data)-footerBytes && !bytes.Equal(again, data) {
			t.Fatal("encoded again, it is another")
		}
		view.Contains(data)
	}
}

// Any bytes as a counting filter, and any counters: what is read can be changed, and stays one.
func FuzzCounting(f *testing.F) {
	addGolden(f, "../golden/counting/*/*.bloomline")
	for _, count := range []byte{0x11, 0xF0, 0x2E} {
		f.Add(bytes.Repeat([]byte{count, 0, 0}, 200), uint64(count))
	}
	f.Fuzz(func(t *testing.T, data []byte, seed uint64) {
		hashes := randomHashes(70, seed)
		checkCounting(t, data, hashes)
		checkCounting(t, repaired(data), hashes)
		if k, counters := int(seed%16)+1, data[:len(data)&^255]; len(counters) > 0 {
			lines := make([]byte, len(counters)/4)
			for bit := range len(lines) * 8 {
				if counters[bit/2]>>(bit%2*4)&15 > 0 {
					lines[bit/8] |= 1 << (bit % 8)
				}
			}
			shape := footer{LineCount: uint64(len(lines) / 64), K: uint32(k), Layout: layoutCounting.number, KeyCount: seed}
			encoded, _ := encode(shape, lines, counters).appendTo(nil)
			if !checkCounting(t, encoded, hashes) {
				t.Fatal("counters and their lines are not accepted")
			}
		}
	})
}

func checkCounting(t *testing.T, data []byte, hashes []uint64) (accepted bool) {
	_, err := OpenView(data)
	var filter CountingFilter
	if n, decoded := filter.ReadFrom(bytes.NewReader(data)); decoded != err || err == nil && n != int64(len(data)) {
		if layout := le.Uint16(data[len(data)-footerBytes+format.AtLayout:]); decoded != ErrLayout || layout == layoutCounting.number {
			t.Fatalf("ReadFrom: %d, %v; OpenView: %v", n, decoded, err)
		}
		return false
	}
	if err != nil {
		return false
	}
	if again, _ := filter.MarshalBinary(); !bytes.Equal(again, data) {
		t.Fatal("encoded again, it is another")
	}
	params := filter.Params()
	for i, hash := range hashes {
		count := filter.CountHash(hash)
		if count != definitionCount(filter.counters, params.K, hash) || filter.ContainsHash(hash) != (count > 0) {
			t.Fatalf("hash %x: count %d", hash, count)
		}
		want := min(count+1, 15)
		if i%3 == 0 {
			filter.AddHash(hash)
		} else if removed := filter.RemoveHash(hash) == nil; removed != (count > 0) {
			t.Fatalf("hash %x: removed: %v", hash, removed)
		} else {
			want = count - 1
			if count%15 == 0 { // not in, or for ever
				want = count
			}
		}
		if now := filter.CountHash(hash); now != want {
			t.Fatalf("hash %x: count %d, then %d", hash, count, now)
		}
	}
	if changed, _ := filter.MarshalBinary(); second(OpenView(changed)) != nil {
		t.Fatal("what was changed is not accepted")
	}
	return true
}

// Any bytes as a cuckoo filter, and any lines: what is read can be changed, and stays one.
func FuzzCuckoo(f *testing.F) {
	addGolden(f, "../golden/cuckoo/*/*.bloomline")
	f.Add(bytes.Repeat([]byte{0xA5}, 192), uint64(2))
	f.Fuzz(func(t *testing.T, data []byte, seed uint64) {
		hashes := randomHashes(70, seed)
		checkCuckoo(t, data, hashes)
		checkCuckoo(t, repaired(data), hashes)
		if lines := data[:len(data)&^63]; len(lines) > 0 {
			shape := footer{LineCount: uint64(len(lines) / 64), K: 8 + uint32(seed%3)*4, Layout: layoutCuckoo.number, KeyCount: seed}
			encoded, _ := encode(shape, lines).appendTo(nil)
			if !checkCuckoo(t, encoded, hashes) {
				t.Fatal("lines are not accepted")
			}
		}
	})
}

func checkCuckoo(t *testing.T, data []byte, hashes []uint64) (accepted bool) {
	_, err := OpenView(data)
	var filter CuckooFilter
	if n, decoded := filter.ReadFrom(bytes.NewReader(data)); decoded != err || err == nil && n != int64(len(data)) {
		if layout := le.Uint16(data[len(data)-footerBytes+format.AtLayout:]); decoded != ErrLayout || layout == layoutCuckoo.number {
			t.Fatalf("ReadFrom: %d, %v; OpenView: %v", n, decoded, err)
		}
		return false
	}
	if err != nil {
		return false
	}
	lines := bytesOf(filter.view.cuckoo.all)
	if !bytes.Equal(lines, data[:len(data)-footerBytes]) {
		t.Fatal("other lines")
	}
	taken := func() (keys uint64) { // counted as they are read
		encoded, err := filter.MarshalBinary()
		var again CuckooFilter
		if err != nil || again.UnmarshalBinary(encoded) != nil {
			t.Fatal("what was changed is not accepted")
		}
		return again.KeyCount()
	}
	params := filter.Params()
	var in []uint64
	for i, hash := range hashes {
		before, contains := bytes.Clone(lines), filter.ContainsHash(hash)
		if contains != definitionCuckooContains(lines, params.FingerprintBits, hash) {
			t.Fatalf("hash %x: want %v", hash, !contains)
		}
		switch err := filter.AddHash(hash); {
		case err == nil:
			in = append(in, hash)
		case err != ErrFull || !bytes.Equal(lines, before):
			t.Fatalf("hash %x: %v, and the lines have changed", hash, err)
		case i%3 == 0 && (filter.RemoveHash(hash) == nil) != contains:
			t.Fatalf("hash %x: removed is not %v", hash, contains)
		}
	}
	if filter.KeyCount() != taken() {
		t.Fatalf("%d keys", filter.KeyCount())
	}
	for _, hash := range in {
		_ = filter.RemoveHash(hash)
	}
	if filter.KeyCount() != taken() {
		t.Fatalf("%d keys after removing", filter.KeyCount())
	}
	return true
}

// Any bytes as a static filter, as lines of any shape, and as the hashes of one: it denies none of them,
// and their order does not matter.
func FuzzStatic(f *testing.F) {
	addGolden(f, "../golden/static/*/*.bloomline")
	f.Add(bytes.Repeat([]byte{0xA5}, 192), uint64(2))
	f.Fuzz(func(t *testing.T, data []byte, seed uint64) {
		asked := randomHashes(70, seed)
		checkReader(t, data, asked)
		checkReader(t, repaired(data), asked)
		rows := staticline.MinRows + int(seed%(staticline.MaxRows-staticline.MinRows+1))
		shape := staticLines{rowShapeOf(rows), 1 + seed>>8%5, levelSizes{uint8(seed >> 16), 0, 0}}
		if size := shape.bytes(); size <= uint64(len(data)) {
			encoded, _ := encode(shape.footer(seed, 1), data[:size]).appendTo(nil)
			if second(OpenView(encoded)) != nil {
				t.Fatal("lines are not accepted")
			}
			checkReader(t, encoded, asked)
		}
		var hashes []uint64
		for at := 0; at+8 <= len(data) && at < 1<<10; at += 8 {
			hashes = append(hashes, le.Uint64(data[at:]))
		}
		filter, err := BuildStaticWithParams(StaticParams{shape.count, rows, seed}, hashes, 1)
		if err != nil || filter.ContainsHashes(hashes, nil).Count() != len(hashes) {
			t.Fatal("a key is denied", err)
		}
		encoded, _ := filter.MarshalBinary()
		checkReader(t, encoded, append(asked, hashes...))
		slices.Reverse(hashes)
		if again := orPanic(BuildStaticWithParams(filter.Params(), hashes, 1)); !again.Equal(filter) {
			t.Fatal("in another order it is another filter")
		}
	})
}

// Engines' blocks have no checksum: any bytes are probed, the same one by one and in a batch,
// in Go and in C. What they mean is tested in internal/engine.
func FuzzOpenEngines(f *testing.F) {
	f.Add(append(make([]byte, 128), 0xFF, 0, 6, 0, 0), uint64(1))
	f.Add(append(bytes.Repeat([]byte{0xA5}, 192), 6, 3, 0, 0, 0), uint64(2))
	f.Add(append(bytes.Repeat([]byte{0x77}, 256), 6, 1, 0, 0, 0), uint64(2))
	f.Add(append(bytes.Repeat([]byte{0x5A}, 33), 7), uint64(3))
	f.Add([]byte{}, uint64(0))
	f.Fuzz(func(t *testing.T, data []byte, seed uint64) {
		hashes := randomHashes(70, seed)
		for name, open := range map[string]func([]byte) (View, error){
			"rocksdb": OpenRocksDB, "leveldb": OpenLevelDB, "parquet": OpenParquet, "parquet bits": OpenParquetBits,
		} {
			view, err := open(data)
			answers := view.ContainsHashes(hashes, nil)
			for i, hash := range hashes {
				if in := view.ContainsHash(hash); in != answers.Has(i) || err != nil && !in {
					t.Fatalf("%s: hash %x: %v alone, %v in a batch, error %v", name, hash, in, answers.Has(i), err)
				}
			}
		}
	})
}
