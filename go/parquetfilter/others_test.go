package parquetfilter

// Split blocks of other programs: the golden files, which the plain definitions made.

import (
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/bloomline/bloomline/go"
)

// eachOther calls check for each filter of a golden file.
func eachOther(t *testing.T, name string, check func(data []byte, answers string, hashes []uint64)) {
	t.Helper()
	text, err := os.ReadFile("../../golden/split-blocks/" + name)
	if err != nil {
		t.Fatal(err)
	}
	filters := strings.Split(strings.TrimSpace(string(text)), "\n")
	if len(filters) != 4 {
		t.Errorf("%s: %d filters", name, len(filters))
	}
	for _, filter := range filters {
		record := strings.Fields(filter)
		var hashes []uint64
		for _, word := range record[2:] {
			hash, err := strconv.ParseUint(word, 16, 64)
			if err != nil {
				t.Fatal(err)
			}
			hashes = append(hashes, hash)
		}
		if len(hashes) != len(record[1]) || !strings.Contains(record[1], "1") {
			t.Fatal(record[1:])
		}
		check(unhex(t, record[0]), record[1], hashes)
	}
}

func TestKudu(t *testing.T) {
	lost := 0
	eachOther(t, "kudu.txt", func(data []byte, answers string, hashes []uint64) {
		kudu, err := OpenKudu(data)
		parquet, parquetErr := bloomline.OpenParquetBits(data)
		if err != nil || parquetErr != nil {
			t.Fatal(err, parquetErr)
		}
		var short []uint32
		for _, hash := range hashes {
			short = append(short, uint32(hash))
		}
		batch := kudu.ContainsHashes32(short, nil)
		for i, hash := range short {
			want := answers[i] == '1'
			if kudu.ContainsHash32(hash) != want || batch.Has(i) != want {
				t.Errorf("%d blocks, %#x: want %v", len(data)/32, hash, want)
			}
			if want && !parquet.ContainsHash(hashes[i]) {
				lost++
			}
		}
	})
	if lost == 0 {
		t.Error("a view of Parquet's loses no key")
	}
}

func TestVelox(t *testing.T) {
	lost := 0
	eachOther(t, "velox.txt", func(data []byte, answers string, hashes []uint64) {
		velox, err := OpenVelox(data, 32)
		parquet, parquetErr := bloomline.OpenParquetBits(data)
		if err != nil || parquetErr != nil {
			t.Fatal(err, parquetErr)
		}
		batch := velox.ContainsHashes(hashes, nil)
		for i, hash := range hashes {
			want := answers[i] == '1'
			if velox.ContainsHash(hash) != want || batch.Has(i) != want {
				t.Errorf("%d blocks, %#x: want %v", len(data)/32, hash, want)
			}
			if want && !parquet.ContainsHash(hash) {
				lost++
			}
		}
	})
	if lost == 0 {
		t.Error("a view of Parquet's loses no key")
	}
}

func TestBlocksThatAreNone(t *testing.T) {
	for length, want := range map[int]error{0: bloomline.ErrLineCount, 96: bloomline.ErrLineCount, 33: bloomline.ErrTruncated} {
		kudu, err := OpenKudu(make([]byte, length))
		if err != want || !kudu.ContainsHash32(1) || kudu.ContainsHashes32([]uint32{1, 2}, nil).Count() != 2 {
			t.Errorf("Kudu, %d bytes: %v", length, err)
		}
	}
	for length, want := range map[int]error{0: bloomline.ErrLineCount, 95: bloomline.ErrTruncated} {
		velox, err := OpenVelox(make([]byte, length), 32)
		if err != want || !velox.ContainsHash(1) {
			t.Errorf("Velox, %d bytes: %v", length, err)
		}
	}
	velox, err := OpenVelox(make([]byte, 64), 16)
	if err != bloomline.ErrLayout || !velox.ContainsHash(1) || velox.ContainsHashes([]uint64{1}, nil).Count() != 1 {
		t.Error(err)
	}
}

func TestOthersHaveNoText(t *testing.T) {
	for _, value := range []any{Kudu{}, &Velox{}, struct{ Of Kudu }{}} {
		if data, err := json.Marshal(value); err == nil {
			t.Errorf("%T is written as %s", value, data)
		}
	}
	for _, into := range []any{new(Kudu), new(Velox)} {
		if err := json.Unmarshal([]byte(`""`), into); err == nil {
			t.Errorf("%T is read", into)
		}
	}
}
