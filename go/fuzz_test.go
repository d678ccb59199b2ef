package bloomline

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// Any bytes: the reader is right by the page, and what it accepts is probed as the definition
// says, one by one and in a batch.
func FuzzOpenView(f *testing.F) {
	for _, count := range []uint64{1, 2, 5} {
		filter, _ := filterOf(f, count, int(count)*3, randomHashes(20, count))
		data, _ := filter.MarshalBinary()
		f.Add(data, uint64(7))
		f.Add(data[:len(data)-1], uint64(1))
		f.Add(data[64:], uint64(1))
	}
	f.Add([]byte(nil), uint64(0))
	golden, err := filepath.Glob("../golden/*/*.bloomline")
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
	f.Fuzz(func(t *testing.T, data []byte, seed uint64) {
		hashes := randomHashes(70, seed)
		checkReader(t, data, hashes)
		checkReader(t, repaired(data), hashes)
	})
}

// repaired gives bytes the checksums that they ought to have, which no fuzzer would find, so
// that the rules behind them are reached.
func repaired(data []byte) []byte {
	if len(data) < footerBytes {
		return data
	}
	data = bytes.Clone(data)
	lines, footer := data[:len(data)-footerBytes], data[len(data)-footerBytes:]
	copy(footer[atMagic:], magic)
	le.PutUint16(footer[atVersion:], version)
	le.PutUint64(footer[atLinesChecksum:], checksum(lines))
	le.PutUint64(footer[atFooterChecksum:], checksum(footer[:atFooterChecksum]))
	return data
}

func checkReader(t *testing.T, data []byte, hashes []uint64) {
	view, err := OpenView(data)
	loose, looseErr := OpenViewUnverified(data)
	if err == nil && looseErr != nil {
		t.Fatal("verified, but not otherwise:", looseErr)
	}
	var filter Filter
	if n, decoded := filter.ReadFrom(bytes.NewReader(data)); decoded != err || n != int64(len(data)) {
		t.Fatalf("ReadFrom: %d, %v; OpenView: %v", n, decoded, err)
	}
	if looseErr != nil {
		if loose.ContainsHashes(hashes, nil).Count() != len(hashes) {
			t.Fatal("what is no filter says no")
		}
		return
	}
	params, _ := loose.Params()
	lines := data[:len(data)-footerBytes]
	answers := loose.ContainsHashes(hashes, nil)
	for i, hash := range hashes {
		in := definitionContains(lines, params.K, hash)
		if answers.Has(i) != in || loose.ContainsHash(hash) != in || err == nil && filter.ContainsHash(hash) != in {
			t.Fatalf("hash %x: want %v", hash, in)
		}
	}
	if err == nil {
		again, _ := filter.MarshalBinary()
		if !bytes.Equal(again, data) {
			t.Fatal("encoded again, it is another")
		}
		view.Contains(data)
	}
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
		for name, open := range map[string]func([]byte) (View, error){"rocksdb": OpenRocksDB, "leveldb": OpenLevelDB} {
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
