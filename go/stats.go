package bloomline

// How full a filter is. All of this reads the whole filter.

import "math/bits"

// Fill returns the fraction of all bits that are set, 0 to 1. It reads the whole filter.
func (f *Filter) Fill() float64 {
	return f.view.fill()
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
	if len(f.view.all) == 0 {
		return 0
	}
	return f.view.keysForFill(f.Fill())
}

// EstimatedRate returns the false-positive rate at the present fill, 0 to 1, so that a service
// can see when to rebuild. It reads the whole filter. That of the zero Filter is 1.
func (f *Filter) EstimatedRate() float64 {
	return f.view.EstimatedRate()
}

// EstimatedRate returns the false-positive rate at the present fill, 0 to 1, so that who maps a
// file sees when it has become too full. It reads the whole filter. That of the zero View, and of
// a filter of another engine, is 1: it is not known.
func (v *View) EstimatedRate() float64 {
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
		var fills [lanes]float64
		for lane := range fills {
			fills[lane] = float64(bits.OnesCount64(v.all[i].lane(lane))) / 64
		}
		sum += lineRate(&fills, v.k)
	}
	return sum / float64(len(v.all))
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
