package bloomline

import "math"

const (
	// The fraction of its slots that a filter is sized to fill. Above some 97 % there is no
	// room.
	cuckooLoad = 0.95
	// Keys that are left room for besides: small filters do not reach that load each time.
	spareKeys = 12
)

// CuckooParams is the shape of a cuckoo filter.
//
//	fingerprint bits   slots in a line   bits per key at a load of 95 %   false positives
//	 8                 64                 8.4                             2.95 %
//	12                 40                13.5                             0.186 %
//	16                 32                16.8                             0.0116 %
type CuckooParams struct {
	// LineCount is the number of 64-byte lines: 1 to 2^32 - 1.
	LineCount uint64 `json:"line_count"`
	// FingerprintBits is how many bits are kept of each key: 8, 12 or 16.
	FingerprintBits int `json:"fingerprint_bits"`
	// Seed is the seed of the hash of keys: see [Params].
	Seed uint64 `json:"seed"`
}

// CuckooParamsForRate returns the smallest shape that has room for so many keys, at a false-positive rate of
// at most rate when they are present. It has the shortest fingerprints that do, and lines for a load of 95 %.
//
// Errors: [ErrKeys], [ErrLineCount], [ErrRate]; [ErrRateTooSmall] if the rate is below 0.000116, which is
// what 16 bits can do.
func CuckooParamsForRate(keys int, rate float64) (CuckooParams, error) {
	if !(rate < 1) {
		return CuckooParams{}, ErrRate
	}
	for i := range slotSizes {
		if slotSizes[i].rate(cuckooLoad) <= rate {
			return CuckooParamsForBits(keys, int(slotSizes[i].bits))
		}
	}
	return CuckooParams{}, noRate(rate)
}

// CuckooParamsForBits returns the smallest shape that has room for keys keys with fingerprints
// of 8, 12 or 16 bits.
//
// Errors: [ErrFingerprintBits] for others; [ErrKeys], [ErrLineCount].
func CuckooParamsForBits(keys, fingerprintBits int) (CuckooParams, error) {
	slots := slotSizeOf(fingerprintBits)
	switch {
	case slots == nil:
		return CuckooParams{}, ErrFingerprintBits
	case keys < 0:
		return CuckooParams{}, ErrKeys
	}
	count := math.Ceil((float64(keys) + spareKeys) / cuckooLoad / float64(slots.inLine()))
	if count > maxCuckooLines {
		return CuckooParams{}, ErrLineCount
	}
	return CuckooParams{LineCount: uint64(count), FingerprintBits: fingerprintBits}, nil
}

// WithRandomSeed returns the same shape with a random seed: see [Params.WithRandomSeed]. Without
// one, an attacker who chooses 9 keys for the same two buckets finds the filter full.
func (p CuckooParams) WithRandomSeed() CuckooParams {
	p.Seed = randomSeed()
	return p
}

// check returns what is wrong with a shape that the caller gave.
func (p CuckooParams) check() error {
	switch {
	case p.LineCount == 0:
		return ErrNoLines
	case slotSizeOf(p.FingerprintBits) == nil:
		return ErrFingerprintBits
	}
	return p.checkRead()
}

// checkRead returns what is wrong with a shape that was read.
func (p CuckooParams) checkRead() error {
	if slotSizeOf(p.FingerprintBits) == nil {
		return ErrK
	}
	if p.LineCount < 1 || p.LineCount > maxCuckooLines {
		return ErrLineCount
	}
	return nil
}

// Bytes returns the size of the lines in bytes. An encoded filter has 64 bytes more.
func (p CuckooParams) Bytes() uint64 {
	return p.LineCount * lineBytes
}

// Slots returns how many keys there are places for: about 95 % of them can be used. It is 0
// for a shape that cannot be.
func (p CuckooParams) Slots() uint64 {
	if p.check() != nil {
		return 0
	}
	return p.LineCount * slotSizeOf(p.FingerprintBits).inLine()
}

// Rate returns the false-positive rate to expect, 0 to 1, with so many keys. It is 1 for a
// shape that cannot be.
func (p CuckooParams) Rate(keys int) float64 {
	if p.check() != nil {
		return 1
	}
	load := float64(max(keys, 0)) / float64(p.Slots())
	return slotSizeOf(p.FingerprintBits).rate(min(load, 1))
}

// inLine is how many slots a line has.
func (s *slotSize) inLine() uint64 {
	return s.buckets * cuckooSlots
}

// rate is the probability that one of the 8 slots that are looked at has, by chance, the
// fingerprint that is looked for.
func (s *slotSize) rate(load float64) float64 {
	// Of all 2^bits values, two stand for fingerprint 1, and one for each of the others.
	values := float64(uint64(1) << s.bits)
	same := (values + 2) / (values * values)
	return 1 - float64(power(1-float64(load*same), 2*cuckooSlots))
}
