package bloomline

// How full a filter is. All of this reads the whole filter.

import (
	"math"
	"math/bits"
	"runtime"
)

// usage sums up lines, some at a time.
type usage struct {
	k            int
	classic      bool
	rated        bool // whether rates are summed up, which takes several times as long
	lines, set   int
	rates, worst float64 // of the lines
}

// unused is the usage to add lines of one shape to.
func (l *lines) unused(rated bool) usage {
	return usage{k: l.k, classic: l.classic, rated: rated && !l.classic}
}

func (u *usage) add(all []line) {
	u.lines += len(all)
	for i := range all {
		for lane := range lanes {
			u.set += bits.OnesCount64(all[i].lane(lane))
		}
		if u.rated {
			rate := all[i].rate(u.k)
			u.rates += rate
			u.worst = max(u.worst, rate)
		}
	}
}

func (u *usage) fill() float64 {
	return float64(u.set) / (float64(max(u.lines, 1)) * lineBits)
}

func (u *usage) estimatedRate() float64 {
	switch {
	case u.lines == 0:
		return 1
	case u.classic:
		return power(u.fill(), u.k)
	}
	return u.rates / float64(u.lines)
}

func (u *usage) worstLineRate() float64 {
	if u.lines == 0 || u.classic {
		return u.estimatedRate()
	}
	return u.worst
}

func (l *lines) usage(rated bool) usage {
	u := l.unused(rated)
	u.add(l.all)
	return u
}

// ---- kinds that consist of parts ----

func fillOf(parts []usage) float64 {
	var sum usage
	for i := range parts {
		sum.lines += parts[i].lines
		sum.set += parts[i].set
	}
	return sum.fill()
}

// rateOfAll is the false-positive rate of parts that are all probed.
func rateOfAll(parts []usage) float64 {
	rates := make([]float64, len(parts))
	for i := range parts {
		rates[i] = parts[i].estimatedRate()
	}
	return together(rates)
}

// together is the false-positive rate of filters that are all probed, of their rates; 1 if there are none.
func together(rates []float64) float64 {
	if len(rates) == 0 {
		return 1
	}
	right := 0.0 // the logarithm of the probability that no filter is wrong
	for _, rate := range rates {
		right += math.Log1p(-rate)
	}
	return -math.Expm1(right)
}

func worstLineOf(parts []usage) float64 {
	if len(parts) == 0 {
		return 1
	}
	worst := 0.0
	for i := range parts {
		worst = max(worst, parts[i].worstLineRate())
	}
	return worst
}

// ---- View, and the kinds that have one ----

func (v *View) usage(rated bool) usage {
	if v.column.isThere() {
		return v.column.usage(rated)
	}
	return v.lines.usage(rated)
}

func (v *View) fill() float64 {
	defer runtime.KeepAlive(v.owner)
	if params, ok := v.CuckooParams(); ok {
		return float64(v.cuckoo.taken()) / float64(params.Slots())
	}
	if v.growing != nil {
		return v.growing.Fill()
	}
	if v.whole != nil {
		return fillOf(v.partsOfWhole(false))
	}
	u := v.usage(false)
	return u.fill()
}

func (v *View) estimatedKeys() float64 {
	defer runtime.KeepAlive(v.owner)
	switch {
	case len(v.all) != 0:
		return v.keysForFill(v.fill())
	case v.column.isThere():
		return v.shape().keysForFill(v.fill())
	case len(v.cuckoo.all) != 0:
		return float64(v.cuckoo.taken())
	case v.static.rowShape != nil:
		return float64(v.keyCount)
	case v.growing != nil:
		_, distinct := v.growing.Measure()
		return distinct
	case v.whole != nil:
		return v.keysOfWhole()
	}
	return 0
}

func (v *View) estimatedRate() float64 {
	defer runtime.KeepAlive(v.owner)
	if params, ok := v.CuckooParams(); ok {
		return params.Rate(int(v.cuckoo.taken()))
	}
	if params, ok := v.StaticParams(); ok {
		return params.Rate()
	}
	if v.growing != nil {
		rate, _ := v.growing.Measure()
		return rate
	}
	if v.whole != nil {
		return v.rateOfWhole(rateOfAll)
	}
	u := v.usage(true)
	return u.estimatedRate()
}

func (v *View) worstLineRate() float64 {
	defer runtime.KeepAlive(v.owner)
	if params, ok := v.CuckooParams(); ok {
		worst := 0.0
		params.LineCount = 1
		for i := range v.cuckoo.all {
			one := cuckooLines{v.cuckoo.all[i : i+1], v.cuckoo.slotSize}
			worst = max(worst, params.Rate(int(one.taken())))
		}
		return worst
	}
	if v.static.rowShape != nil || v.growing != nil { // the same in each line
		return v.estimatedRate()
	}
	if v.whole != nil {
		return v.rateOfWhole(worstLineOf)
	}
	u := v.usage(true)
	return u.worstLineRate()
}

// ---- a line ----

// rate is the false-positive rate of a line.
func (l *line) rate(k int) float64 {
	var fills [lanes]float64
	for lane := range fills {
		fills[lane] = float64(bits.OnesCount64(l.lane(lane))) / 64
	}
	return lineRate(&fills, k)
}

// lineRate is the probability that a key which is not in the line finds its bits set. A round
// tests so many lanes in a row, from one of 8 starts, one bit in each.
func lineRate(fills *[lanes]float64, k int) float64 {
	round := func(count int) float64 {
		sum := 0.0
		for start := range lanes {
			product := 1.0
			for i := range count {
				product *= fills[(start+i)%lanes]
			}
			sum += product
		}
		return sum / lanes
	}
	if k <= 8 {
		return round(k)
	}
	return round(8) * round(k-8)
}
