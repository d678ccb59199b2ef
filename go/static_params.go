package bloomline

// How large a static filter is, and what rate to expect.

import (
	"math"

	"github.com/bloomline/bloomline/go/internal/staticline"
)

const (
	// The keys to a line of the first two levels, as a part of its columns: some 12 % of them are
	// bumped. More keys would take less memory, and more probes a second line.
	staticLoad = 1.1
	// The most lines of a first level that the format has.
	maxStaticLines = 1 << 48
)

// StaticParams is the shape of a static filter.
//
//	rows   false positives   bits per key
//	 4     6.25 %             4.22
//	 5     3.1 %              5.26
//	 6     1.6 %              6.29
//	 7     0.78 %             7.38
//	 8     0.39 %             8.48
//	10     0.098 %           10.5
//	12     0.024 %           12.6
//	16     0.0015 %          17.0
type StaticParams struct {
	// LineCount is the number of lines of the first level, of 64 bytes each with up to 8 rows and of
	// 128 bytes with more: any number above 0.
	LineCount uint64 `json:"line_count"`
	// Rows is the bits of a key's fingerprint, 4 to 16.
	Rows int `json:"rows"`
	// Seed is the seed of the hash of keys: see [Params].
	Seed uint64 `json:"seed"`
}

// StaticParamsForRate returns the smallest shape for so many keys, at a false-positive rate of at most
// rate: the fewest rows that reach it. For no keys it has one line.
//
// Errors: [ErrKeys], [ErrLineCount], [ErrRate]; [ErrRateTooSmall] if the rate is below 2^-16, which is
// what 16 rows can do.
func StaticParamsForRate(keys int, rate float64) (StaticParams, error) {
	rows, err := rowsForRate(rate)
	if err != nil {
		return StaticParams{}, err
	}
	return StaticParamsForRows(keys, rows)
}

func rowsForRate(rate float64) (int, error) {
	if !(rate < 1) {
		return 0, ErrRate
	}
	for rows := staticline.MinRows; rows <= staticline.MaxRows; rows++ {
		if staticRate(rows) <= rate {
			return rows, nil
		}
	}
	return 0, noRate(rate)
}

// StaticParamsForBits returns a shape for so many keys with at most so many bits for each, in sets of
// more than a few thousand: with the most rows for which they are enough.
//
// Errors: [ErrKeys], [ErrLineCount], [ErrBitsPerKey]; [ErrTooFewBits] if the bits are fewer than
// 4 rows take.
func StaticParamsForBits(keys int, bitsPerKey float64) (StaticParams, error) {
	if !(bitsPerKey > 0) || math.IsInf(bitsPerKey, 0) {
		return StaticParams{}, ErrBitsPerKey
	}
	for rows := staticline.MaxRows; rows >= staticline.MinRows; rows-- {
		if staticBits(rows) <= bitsPerKey {
			return StaticParamsForRows(keys, rows)
		}
	}
	return StaticParams{}, ErrTooFewBits
}

// StaticParamsForRows returns the smallest shape for so many keys with 4 to 16 rows.
//
// Errors: [ErrRows] for other rows; [ErrKeys], [ErrLineCount].
func StaticParamsForRows(keys, rows int) (StaticParams, error) {
	shape := rowShapeOf(rows)
	switch {
	case shape == nil:
		return StaticParams{}, ErrRows
	case keys < 0:
		return StaticParams{}, ErrKeys
	}
	count := math.Ceil(float64(keys) / shape.keysPerLine())
	if count > maxStaticLines {
		return StaticParams{}, ErrLineCount
	}
	params := StaticParams{LineCount: max(uint64(count), 1), Rows: rows}
	if err := params.check(); err != nil {
		return StaticParams{}, err
	}
	return params, nil
}

// WithRandomSeed returns the same shape with a random seed: see [Params.WithRandomSeed].
func (p StaticParams) WithRandomSeed() StaticParams {
	p.Seed = randomSeed()
	return p
}

// check returns what is wrong with a shape that the caller gave.
func (p StaticParams) check() error {
	switch {
	case p.LineCount == 0:
		return ErrNoLines
	case rowShapeOf(p.Rows) == nil:
		return ErrRows
	}
	return p.checkRead()
}

// checkRead returns what is wrong with a shape that was read.
func (p StaticParams) checkRead() error {
	shape := rowShapeOf(p.Rows)
	if shape == nil {
		return ErrK
	}
	// All levels together have at most four times the lines of the first, and some more.
	addressable := math.MaxInt/4/shape.LineBytes - 32
	if p.LineCount < 1 || p.LineCount > min(maxStaticLines, addressable) {
		return ErrLineCount
	}
	return nil
}

// Rate returns the false-positive rate to expect, 0 to 1, of as many keys as the shape was made for, or
// fewer. It is 1 for a shape that cannot be.
func (p StaticParams) Rate() float64 {
	if p.check() != nil {
		return 1
	}
	return staticRate(p.Rows)
}

func staticRate(rows int) float64 {
	return 1 / float64(uint64(1)<<rows)
}

// keysPerLine is the keys to a line that the first two levels are sized for.
func (r *rowShape) keysPerLine() float64 {
	return staticLoad * float64(r.Columns())
}

// staticBits is the bits per key of a filter of many keys, all levels together: the second level is as
// the first, the third has more room, and a sixteenth follows.
func staticBits(rows int) float64 {
	shape := rowShapeOf(rows)
	keys := shape.keysPerLine()
	line := float64(8*shape.LineBytes) / keys
	bumped := bumpedPart(rows, keys)
	return line * (1 + bumped + float64(bumped*bumped/thirdLoad*(1+1.0/16)))
}

// bumpedPart is the part of the keys that a level bumps, with so many to a line on average.
//
// Their number in a line is Poisson distributed. They are taken one after the other until one
// contradicts those before. With i equations there, the next depends on them with probability 2^(i -
// columns), and then contradicts them but for 2^-rows of cases. The keys that have the position of that
// one are bumped too: a 256th of the keys, on average half of them before it.
func bumpedPart(rows int, keysPerLine float64) float64 {
	columns := float64(rowShapeOf(rows).Columns())
	most := int(keysPerLine+float64(12*math.Sqrt(keysPerLine))) + 2
	weight, kept := math.Exp(-keysPerLine), 0.0
	// The probability that the first n keys fit, and the keys that fit of those, on average.
	fit, fits := 1.0, 0.0
	for n := range most {
		keys := float64(n)
		lost := (1 - fit) * keys / 512
		kept += float64(weight * (fits - lost))
		weight *= keysPerLine / (keys + 1)
		contradicts := math.Exp2(min(keys-columns, 0)) * (1 - staticRate(rows))
		fit *= 1 - contradicts
		fits += fit
	}
	return 1 - kept/keysPerLine
}
