package engine

// Split blocks of other programs, as Parquet's: hashes by which the same bits are found, words in Parquet's order.

// KuduHash is the hash by which Parquet's layout finds the bits of Kudu's hash, in 1<<log2 blocks. The low bits of
// what Kudu makes of the hash are the block's number; here these are the high bits.
func KuduHash(hash uint32, log2 int) uint64 {
	made := (uint64(hash)*0x7850F11EC6D14889 + 0x6773610597CA4C63) >> 32
	return made<<(64-log2) | uint64(hash)
}

// veloxPlaces are the places in Parquet's block of the words of Velox, which has the salts in ascending order.
var veloxPlaces = [8]int{5, 1, 0, 7, 4, 2, 6, 3}

// FromVelox returns a copy of whole blocks of Velox, in Parquet's order.
func FromVelox(blocks []byte) []byte {
	out := make([]byte, len(blocks))
	for at := 0; at < len(blocks); at += SplitBlockBytes {
		for i, place := range veloxPlaces {
			copy(out[at+4*place:at+4*place+4], blocks[at+4*i:])
		}
	}
	return out
}
