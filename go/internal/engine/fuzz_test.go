package engine

// Any bytes, against the readers' rules as the engines state them.

import (
	"bytes"
	"testing"
)

func FuzzOpenRocksDB(f *testing.F) {
	hashes := randomHashes(20, 6)
	for _, hash := range hashes[:2] {
		f.Add(AppendFastLocal(nil, hashes, 10), hash)
		f.Add(AppendFastLocal(nil, hashes, 50), hash)
		f.Add(AppendLegacy(nil, hashes, 10), hash)
		f.Add(append(bytes.Repeat([]byte{0xEE}, 512), 6, 4, 0, 0, 0), hash)
		f.Add(append(bytes.Repeat([]byte{0xEE}, 512), 6, 2, 0, 0, 0), hash)
	}
	f.Fuzz(func(t *testing.T, data []byte, hash uint64) {
		block, ok := OpenRocksDB(data)
		maybe, understood := plainRocksDB(data, hash)
		if ok != understood {
			t.Errorf("understood: %v, want %v", ok, understood)
		}
		if got := block.Contains(hash); got != maybe {
			t.Errorf("layout %d: %v, want %v", block.Layout(), got, maybe)
		}
		// A key, too: any will do.
		key := data[len(data)/2:]
		maybe, _ = plainRocksDB(data, block.Hash(key))
		if got := RocksDBMayContain(data, key); got != maybe {
			t.Errorf("layout %d, may contain %x: %v, want %v", block.Layout(), key, got, maybe)
		}
	})
}

func FuzzOpenLevelDB(f *testing.F) {
	hashes := randomHashes(20, 6)
	for _, hash := range hashes[:2] {
		f.Add(AppendLevelDB(nil, hashes, 10), hash)
		f.Add(AppendLevelDB(nil, hashes[:1], 1), hash)
		f.Add([]byte{0xFF, 30}, hash)
	}
	f.Fuzz(func(t *testing.T, data []byte, hash uint64) {
		block, _ := OpenLevelDB(data)
		if got, want := block.Contains(hash), plainLevelDB(data, hash); got != want {
			t.Errorf("layout %d: %v, want %v", block.Layout(), got, want)
		}
		key := data[len(data)/2:]
		want := plainLevelDB(data, uint64(LevelDBHash(key)))
		if got := LevelDBMayContain(data, key); got != want {
			t.Errorf("layout %d, may contain %x: %v, want %v", block.Layout(), key, got, want)
		}
	})
}
