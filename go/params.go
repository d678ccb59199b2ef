package bloomline

// How many lines, how many bits per key, and what rate to expect. Plain arithmetic.
//
// Keys fall on lines at random, so the number of keys in a line is Poisson distributed, and
// a false positive needs all its k bits set by the keys of its line:
//
//	rate(b, k) = sum over n of Poisson(n; 512/b) * (1 - (1 - k/512)^n)^k
//
// Products are converted to float64 where a sum follows: Go then may not fuse the two, and
// the results are the same on every CPU.

import "math"

// Params is the shape of a filter. Filters of the same Params can be united. Its JSON is that of Rust's.
type Params struct {
	// LineCount is the number of 64-byte lines: any number above 0.
	LineCount uint64 `json:"line_count"`
	// K is how many bits a key sets, 1 to 16.
	K int `json:"k"`
	// Classic is whether these bits lie anywhere in all lines, as in a standard Bloom filter, and
	// not in one line: see [NewClassic].
	Classic bool `json:"classic"`
	// Seed is the seed of the hash of keys: see [Params.WithRandomSeed].
	Seed uint64 `json:"seed"`
}

const (
	minBits = 0.01
	maxBits = 1e5
	// A footer included, bytes have to fit an int.
	maxLines = math.MaxInt/lineBytes - 1
	// And with counters, which are four times as long as the lines.
	maxCountingLines = maxLines / 5
)

// ParamsForRate returns the smallest shape that holds keys at a false-positive rate of at
// most rate. For no keys it has one line.
//
// Errors: [ErrKeys], [ErrRate], [ErrRateTooSmall], [ErrLineCount].
func ParamsForRate(keys int, rate float64) (Params, error) {
	bits, k, ok := bitsForRate(rate)
	if !ok {
		return Params{}, noRate(rate)
	}
	return paramsOf(keys, bits, k)
}

// ParamsForBits returns a shape of so many bits per key, a fraction if need be, with the K
// that suits it best.
//
// Errors: [ErrKeys], [ErrBitsPerKey], [ErrLineCount].
func ParamsForBits(keys int, bitsPerKey float64) (Params, error) {
	if !(bitsPerKey > 0) || math.IsInf(bitsPerKey, 0) {
		return Params{}, ErrBitsPerKey
	}
	return paramsOf(keys, bitsPerKey, bestK(bitsPerKey))
}

// ParamsForRateWithin is [ParamsForRate] in at most so many bytes of lines, or one line. If that is too little, it
// takes all of them, and the K that is then best: [Params.Rate] tells the rate, from which one can say whether the
// filter is worth its probes.
//
// Errors: [ErrKeys], [ErrRate], [ErrRateTooSmall].
func ParamsForRateWithin(keys int, rate float64, bytes uint64) (Params, error) {
	most := min(max(bytes/lineBytes, 1), maxLines)
	params, err := ParamsForRate(keys, rate)
	if err == nil && params.LineCount <= most || err != nil && err != ErrLineCount {
		return params, err
	}
	return Params{LineCount: most, K: bestK(float64(most) * lineBits / float64(keys))}, nil
}

func paramsOf(keys int, bitsPerKey float64, k int) (Params, error) {
	if keys < 0 {
		return Params{}, ErrKeys
	}
	count := math.Ceil(float64(keys) * bitsPerKey / lineBits)
	if count > maxLines {
		return Params{}, ErrLineCount
	}
	return Params{LineCount: max(uint64(count), 1), K: k}, nil
}

// check returns what is wrong with a shape that the caller gave.
func (p Params) check() error {
	if p.LineCount == 0 {
		return ErrNoLines
	}
	return p.checkRead()
}

// checkRead returns what is wrong with a shape that was read.
func (p Params) checkRead() error {
	if p.K < 1 || p.K > maxK {
		return ErrK
	}
	if p.LineCount < 1 || p.LineCount > maxLines {
		return ErrLineCount
	}
	return nil
}

// checkInOneLine is check for a filter that needs all bits of a key in one line.
func (p Params) checkInOneLine() error {
	if err := p.check(); err != nil || !p.Classic {
		return err
	}
	return ErrClassic
}

// checkCounting returns what is wrong with the shape of a counting filter that was read.
func (p Params) checkCounting() error {
	if err := p.checkRead(); err != nil || p.LineCount <= maxCountingLines {
		return err
	}
	return ErrLineCount
}

// WithRandomSeed returns the same shape with a random seed from the operating system. Use it where
// others choose the keys: an attacker who knows the seed finds false positives, and keys that all
// fall on one line, within milliseconds. Keep it secret: it stands in the encoded filter.
//
// Filters that are united, or probed with one hash, need the same seed: draw it once, and copy it.
func (p Params) WithRandomSeed() Params {
	p.Seed = randomSeed()
	return p
}

// Foldable returns the smallest shape with at least as many lines that [Filter.Fold] can halve
// so many times: the line count becomes a multiple of 2 to the power folds.
//
// Errors: [ErrLineCount] if the size cannot be addressed, or folds is negative.
func (p Params) Foldable(folds int) (Params, error) {
	if folds < 0 || folds > 62 || p.LineCount > maxLines {
		return Params{}, ErrLineCount
	}
	unit := uint64(1) << folds
	p.LineCount = (p.LineCount + unit - 1) &^ (unit - 1)
	if p.LineCount > maxLines {
		return Params{}, ErrLineCount
	}
	return p, nil
}

// Bytes returns the size of the lines in bytes. An encoded filter has 64 bytes more.
func (p Params) Bytes() uint64 {
	return p.LineCount * lineBytes
}

// Rate returns the false-positive rate to expect, 0 to 1, with so many keys. It is 1
// for a shape that cannot be.
func (p Params) Rate(keys int) float64 {
	if p.check() != nil {
		return 1
	}
	if keys <= 0 {
		return 0
	}
	if p.Classic {
		return classicRate(float64(p.LineCount)*lineBits/float64(keys), p.K)
	}
	return rateOf(float64(p.LineCount)*lineBits/float64(keys), p.K)
}

// rateOf is the sum above, from the most probable number of keys outwards, so that nothing
// underflows: the sum of the weights divides out what the first weight is.
func rateOf(bitsPerKey float64, k int) float64 {
	keys := lineBits / math.Max(bitsPerKey, minBits)
	unsetByOne := 1 - float64(k)/lineBits
	mode := math.Floor(keys)
	unsetByMode := power(unsetByOne, int(mode)) // the probability that so many keys leave a bit unset
	term := func(unset, weight float64) float64 {
		return float64(weight * power(1-unset, k))
	}
	sum, weights := term(unsetByMode, 1), 1.0
	for n, weight, unset := mode, 1.0, unsetByMode; weight > 1e-30; {
		n++
		weight *= keys / n
		unset *= unsetByOne
		sum += term(unset, weight)
		weights += weight
	}
	for n, weight, unset := mode, 1.0, unsetByMode; n > 0 && weight > 1e-30; {
		weight *= n / keys
		n--
		unset /= unsetByOne
		sum += term(unset, weight)
		weights += weight
	}
	return sum / weights
}

// power is x^n by multiplications alone, which give the same in every language.
func power(x float64, n int) float64 {
	result := 1.0
	for ; n > 0; n >>= 1 {
		if n&1 != 0 {
			result *= x
		}
		x *= x
	}
	return result
}

// bestK is the k with the lowest rate: the rate falls with k, and then rises.
func bestK(bitsPerKey float64) int {
	k := int(math.Min(math.Max(bitsPerKey*math.Ln2*0.9, 1), maxK))
	least := rateOf(bitsPerKey, k)
	for k < maxK && rateOf(bitsPerKey, k+1) < least {
		k++
		least = rateOf(bitsPerKey, k)
	}
	for k > 1 && rateOf(bitsPerKey, k-1) < least {
		k--
		least = rateOf(bitsPerKey, k)
	}
	return k
}

// bitsForRate is the fewest bits per key that give a rate, and the k to use with them.
func bitsForRate(target float64) (bitsPerKey float64, k int, ok bool) {
	if !(target > 0 && target < 1) {
		return 0, 0, false
	}
	least := func(bitsPerKey float64) float64 { return rateOf(bitsPerKey, bestK(bitsPerKey)) }
	low, high := minBits, 1.0
	for least(high) > target {
		low, high = high, 2*high
		if high > maxBits {
			return 0, 0, false
		}
	}
	// 50 halvings: as exact as a float64 gets.
	for range 50 {
		if middle := (low + high) / 2; least(middle) > target {
			low = middle
		} else {
			high = middle
		}
	}
	return high, bestK(high), true
}

// keysForFill is how many keys set the fraction fill of all bits.
func (l *lines) keysForFill(fill float64) float64 {
	return Params{LineCount: uint64(len(l.all)), K: l.k, Classic: l.classic}.keysForFill(fill)
}

func (p Params) keysForFill(fill float64) float64 {
	count := float64(p.LineCount)
	unset := math.Max(1-fill, 0.5/(count*lineBits))
	if p.Classic {
		return count * lineBits * (0 - math.Log(unset)) / float64(p.K)
	}
	return count * (0 - math.Log(unset)) / bitProbability(p.K) // not -0 of an empty filter
}

// bitProbability is the probability that a key sets a given bit of its line.
func bitProbability(k int) float64 {
	first := float64(min(k, 8)) / lineBits
	second := float64(max(k-8, 0)) / lineBits
	return 1 - float64((1-first)*(1-second))
}
