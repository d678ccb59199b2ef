package bloomline

// How full a filter is. All of this reads the whole filter.

import (
	"encoding/binary"
	"math/bits"
	"sync/atomic"
)

// usage sums up lines, some at a time.
type usage struct {
	lines, set   int
	rates, worst float64 // of the lines, if k is given
}

// add adds lines. Without their rates it is several times as fast: k is then 0.
func (u *usage) add(all []line, k int) {
	u.lines += len(all)
	for i := range all {
		for lane := range lanes {
			u.set += bits.OnesCount64(all[i].lane(lane))
		}
		if k > 0 {
			rate := all[i].rate(k)
			u.rates += rate
			u.worst = max(u.worst, rate)
		}
	}
}

func (u *usage) fill() float64 {
	return float64(u.set) / (float64(max(u.lines, 1)) * lineBits)
}

// estimatedRate is that of the lines of l, which are what was added.
func (u *usage) estimatedRate(l *lines) float64 {
	switch {
	case u.lines == 0:
		return 1
	case l.classic:
		return power(u.fill(), l.k)
	}
	return u.rates / float64(u.lines)
}

// worstLineRate is that of the lines of l, which are what was added.
func (u *usage) worstLineRate(l *lines) float64 {
	if u.lines == 0 || l.classic {
		return u.estimatedRate(l)
	}
	return u.worst
}

func (l *lines) usage(rates bool) (u usage) {
	u.add(l.all, l.usageK(rates))
	return u
}

// usageK is the k to sum up with.
func (l *lines) usageK(rates bool) int {
	if !rates || l.classic {
		return 0
	}
	return l.k
}

// together is the false-positive rate of filters that are all probed, of their rates.
func together(rates func(yield func(float64) bool)) float64 {
	right := 1.0 // the probability that no filter is wrong
	for rate := range rates {
		right *= 1 - rate
	}
	return 1 - right
}

// ---- View, and the kinds that have one ----

// Fill returns the fraction of all bits that are set, 0 to 1; of a cuckoo filter, of its slots that are
// taken. It reads the whole filter. That of the zero View, of a static filter, and of a filter of another
// engine is 0: it is not known.
func (v View) Fill() float64 {
	return v.fill()
}

func (v *View) fill() float64 {
	if params, ok := v.CuckooParams(); ok {
		return float64(v.cuckoo.taken()) / float64(params.Slots())
	}
	u := v.usage(false)
	return u.fill()
}

// EstimatedKeys returns how many different keys are present, estimated from the fill: see
// [Filter.EstimatedKeys]. Of a cuckoo filter it is how many slots are taken, of a static one KeyCount. It
// reads the whole filter. That of the zero View, and of a filter of another engine, is 0: it is not known.
func (v View) EstimatedKeys() float64 {
	return v.estimatedKeys()
}

func (v *View) estimatedKeys() float64 {
	switch {
	case len(v.all) != 0:
		return v.keysForFill(v.fill())
	case len(v.cuckoo.all) != 0:
		return float64(v.cuckoo.taken())
	case v.static.rowShape != nil:
		return float64(v.keyCount)
	}
	return 0
}

// EstimatedRate returns the false-positive rate at the present fill, 0 to 1, so that the reader of a
// file sees when it has become too full. It reads the whole filter. That of the zero View, and of
// a filter of another engine, is 1: it is not known.
func (v View) EstimatedRate() float64 {
	return v.estimatedRate()
}

func (v *View) estimatedRate() float64 {
	if params, ok := v.CuckooParams(); ok {
		return params.Rate(int(v.cuckoo.taken()))
	}
	if params, ok := v.StaticParams(); ok {
		return params.Rate()
	}
	u := v.usage(true)
	return u.estimatedRate(&v.lines)
}

// WorstLineRate is [Filter.WorstLineRate]. That of the zero View, and of a filter of another
// engine, is 1: it is not known.
func (v View) WorstLineRate() float64 {
	return v.worstLineRate()
}

func (v *View) worstLineRate() float64 {
	if params, ok := v.CuckooParams(); ok {
		worst := 0.0
		params.LineCount = 1
		for i := range v.cuckoo.all {
			one := cuckooLines{v.cuckoo.all[i : i+1], v.cuckoo.slotSize}
			worst = max(worst, params.Rate(int(one.taken())))
		}
		return worst
	}
	if v.static.rowShape != nil {
		return v.estimatedRate()
	}
	u := v.usage(true)
	return u.worstLineRate(&v.lines)
}

// ---- ConcurrentFilter ----

// usage sums up the lines as they are now, a few at a time.
func (f *ConcurrentFilter) usage(rates bool) (u usage) {
	var copied [64]line
	all := f.view.all
	for len(all) > 0 {
		part := all[:min(len(copied), len(all))]
		for i := range part {
			from := lanesOf(&part[i])
			for lane := range from {
				// As memory has it, whatever the CPU's order.
				binary.NativeEndian.PutUint64(copied[i][8*lane:], atomic.LoadUint64(&from[lane]))
			}
		}
		u.add(copied[:len(part)], f.view.usageK(rates))
		all = all[len(part):]
	}
	return u
}

// Fill is [Filter.Fill], as the filter is now.
func (f *ConcurrentFilter) Fill() float64 {
	u := orZero(f).usage(false)
	return u.fill()
}

// EstimatedKeys is [Filter.EstimatedKeys], as the filter is now.
func (f *ConcurrentFilter) EstimatedKeys() float64 {
	if f == nil || len(f.view.all) == 0 {
		return 0
	}
	return f.view.keysForFill(f.Fill())
}

// EstimatedRate is [Filter.EstimatedRate], as the filter is now.
func (f *ConcurrentFilter) EstimatedRate() float64 {
	f = orZero(f)
	u := f.usage(true)
	return u.estimatedRate(&f.view.lines)
}

// WorstLineRate is [Filter.WorstLineRate], as the filter is now.
func (f *ConcurrentFilter) WorstLineRate() float64 {
	f = orZero(f)
	u := f.usage(true)
	return u.worstLineRate(&f.view.lines)
}

// ---- ScalableFilter ----

// Fill returns the fraction of the bits of all stages that are set, 0 to 1. It reads the whole
// filter.
func (f *ScalableFilter) Fill() float64 {
	var u usage
	for i := range orZero(f).stages {
		u.add(f.stages[i].filter.view.all, 0)
	}
	return u.fill()
}

// EstimatedKeys is [Filter.EstimatedKeys], of all stages.
func (f *ScalableFilter) EstimatedKeys() float64 {
	keys := 0.0
	for i := range orZero(f).stages {
		keys += f.stages[i].filter.EstimatedKeys()
	}
	return keys
}

// EstimatedRate returns the false-positive rate of all stages together at the present fill, 0 to 1.
// It reads the whole filter. That of the zero ScalableFilter is 1.
func (f *ScalableFilter) EstimatedRate() float64 {
	if f == nil || len(f.stages) == 0 {
		return 1
	}
	return together(func(yield func(float64) bool) {
		for i := range f.stages {
			if !yield(f.stages[i].filter.EstimatedRate()) {
				return
			}
		}
	})
}

// WorstLineRate is [Filter.WorstLineRate], of the fullest line of any stage.
func (f *ScalableFilter) WorstLineRate() float64 {
	if f == nil || len(f.stages) == 0 {
		return 1
	}
	worst := 0.0
	for i := range f.stages {
		worst = max(worst, f.stages[i].filter.WorstLineRate())
	}
	return worst
}

// ---- Window ----

// usage sums up a generation. Lines that it has not yet cleared count as empty.
func (w *Window) usage(place int, rates bool) (u usage) {
	all := w.linesOf(place)
	for first := 0; first < len(all.all); first += chunkLines {
		part := all.all[first:min(first+chunkLines, len(all.all))]
		if w.cleared[place*chunksOf(w.params)+first/chunkLines] != w.generations[place].slice {
			u.lines += len(part)
			continue
		}
		u.add(part, all.usageK(rates))
	}
	return u
}

// Fill returns the fraction of the bits of all generations that are set, 0 to 1. It reads the whole
// window.
func (w *Window) Fill() float64 {
	var sum usage
	for place := range orZero(w).generations {
		u := w.usage(place, false)
		sum.lines += u.lines
		sum.set += u.set
	}
	return sum.fill()
}

// EstimatedRate returns the false-positive rate over all generations at their present fill, 0 to 1.
// It reads the whole window. That of the zero Window is 1.
func (w *Window) EstimatedRate() float64 {
	if w == nil || len(w.generations) == 0 {
		return 1
	}
	return together(func(yield func(float64) bool) {
		for place := range w.generations {
			u := w.usage(place, true)
			if !yield(u.rates / float64(u.lines)) {
				return
			}
		}
	})
}

// WorstLineRate is [Filter.WorstLineRate], of the fullest line of any generation.
func (w *Window) WorstLineRate() float64 {
	if w == nil || len(w.generations) == 0 {
		return 1
	}
	worst := 0.0
	for place := range w.generations {
		worst = max(worst, w.usage(place, true).worst)
	}
	return worst
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
