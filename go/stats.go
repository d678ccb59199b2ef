package bloomline

// How full a filter is. All of this reads the whole filter.

import "math/bits"

// Fill returns the fraction of all bits that are set, 0 to 1. It reads the whole filter.
func (f *Filter) Fill() float64 {
	return orZero(f).view.fill()
}

func (v *View) fill() float64 {
	set := 0
	for i := range v.all {
		for lane := range lanes {
			set += bits.OnesCount64(v.all[i].lane(lane))
		}
	}
	if set == 0 {
		return 0
	}
	return float64(set) / (float64(len(v.all)) * lineBits)
}

// EstimatedKeys returns how many different keys are in, estimated from the fill: within a few
// per cent until nearly all bits are set. It reads the whole filter.
func (f *Filter) EstimatedKeys() float64 {
	if f == nil || len(f.view.all) == 0 {
		return 0
	}
	return f.view.keysForFill(f.Fill())
}

// EstimatedRate returns the false-positive rate at the present fill, 0 to 1, so that a service
// can see when to rebuild. It reads the whole filter. That of the zero Filter is 1.
func (f *Filter) EstimatedRate() float64 {
	return orZero(f).view.estimatedRate()
}

// WorstLineRate returns the false-positive rate of the fullest line, 0 to 1. A line that holds far
// more keys than its share, because an attacker chose them so, has a rate near 1, and hardly
// changes [Filter.EstimatedRate]. By chance the fullest of a million lines reaches some ten times
// the average. It reads the whole filter. That of [NewClassic], where the bits of a key lie
// anywhere, is EstimatedRate; that of the zero Filter is 1.
func (f *Filter) WorstLineRate() float64 {
	return orZero(f).view.worstLineRate()
}

// EstimatedRate returns the false-positive rate at the present fill, 0 to 1, so that who maps a
// file sees when it has become too full. It reads the whole filter. That of the zero View, and of
// a filter of another engine, is 1: it is not known.
func (v View) EstimatedRate() float64 {
	return v.estimatedRate()
}

func (v *View) estimatedRate() float64 {
	if params, ok := v.CuckooParams(); ok {
		return params.Rate(int(v.cuckoo.taken()))
	}
	if len(v.all) == 0 {
		return 1
	}
	if v.classic {
		return power(v.fill(), v.k)
	}
	sum := 0.0
	for i := range v.all {
		sum += v.all[i].rate(v.k)
	}
	return sum / float64(len(v.all))
}

// WorstLineRate is [Filter.WorstLineRate]. That of the zero View, and of a filter of another
// engine, is 1: it is not known.
func (v View) WorstLineRate() float64 {
	return v.worstLineRate()
}

func (v *View) worstLineRate() float64 {
	worst := 0.0
	if params, ok := v.CuckooParams(); ok {
		params.LineCount = 1
		for i := range v.cuckoo.all {
			one := cuckooLines{v.cuckoo.all[i : i+1], v.cuckoo.slotSize}
			worst = max(worst, params.Rate(int(one.taken())))
		}
		return worst
	}
	if len(v.all) == 0 || v.classic {
		return v.estimatedRate()
	}
	for i := range v.all {
		worst = max(worst, v.all[i].rate(v.k))
	}
	return worst
}

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
