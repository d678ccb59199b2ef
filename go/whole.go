package bloomline

// Views of filters that are made of others: a ScalableFilter, a Window, a Cascade. Such a View leads to the filter.

// View returns the filter to read: all stages together. It is cheap to pass on, sees what is added later, and must not
// be used while something is. Once other bytes are read into f, take a new one.
func (f *ScalableFilter) View() View {
	if f == nil || len(f.stages) == 0 {
		return View{}
	}
	return View{whole: f, seed: f.seed, keyCount: f.KeyCount()}
}

// View returns the window to read: all generations together. Its KeyCount is the sum of theirs. It is cheap to pass
// on, sees what is added and expires later, and must not be used while something does. Once other bytes are read into
// w, take a new one.
func (w *Window) View() View {
	if w == nil || len(w.generations) == 0 {
		return View{}
	}
	keys := uint64(0)
	for _, generation := range w.generations {
		keys = saturatingAdd(keys, generation.keyCount)
	}
	return View{whole: w, seed: w.params.Seed, keyCount: keys}
}

// View returns the cascade to read: cheap to pass on. Its keys are the included ones, its rate is that of keys of
// neither set, and its fill is 0: it is not known. Once other bytes are read into f, take a new one.
func (f *Cascade) View() View {
	if f == nil || len(f.layers) == 0 {
		return View{}
	}
	return View{whole: f, seed: f.seed, keyCount: f.IncludedCount()}
}

// These call methods of types, not of an interface: behind one, all arguments would escape to the heap.

func (v *View) probeWhole(hash uint64) bool {
	switch f := v.whole.(type) {
	case *ScalableFilter:
		return f.ContainsHash(hash)
	case *Window:
		return f.ContainsHash(hash)
	case *Cascade:
		return f.ContainsHash(hash)
	}
	return true
}

// answerAny answers hashes, a bit each, of any filter; answer does not know those made of others, whose parts call
// it. out is zero.
func (v *View) answerAny(hashes, out []uint64) {
	switch f := v.whole.(type) {
	case *ScalableFilter:
		f.answer(hashes, out)
	case *Window:
		f.answer(hashes, out)
	case *Cascade:
		f.answer(hashes, out)
	default:
		v.answer(hashes, out)
	}
}

func (v *View) prefetchWhole(hash uint64) {
	switch f := v.whole.(type) {
	case *ScalableFilter:
		f.prefetch(hash)
	case *Window:
		f.prefetch(hash)
	case *Cascade:
		f.prefetch(hash)
	}
}

// partsOfWhole is how full the parts are. The lines of a cascade do not show it.
func (v *View) partsOfWhole(rated bool) []usage {
	switch f := v.whole.(type) {
	case *ScalableFilter:
		return f.usages(rated)
	case *Window:
		return f.usages(rated)
	}
	return nil
}

// keysOfWhole are as many as are estimated to be present, those of all parts added up.
func (v *View) keysOfWhole() float64 {
	keys := 0.0
	switch f := v.whole.(type) {
	case *ScalableFilter:
		return f.EstimatedKeys()
	case *Window:
		for _, part := range f.usages(false) {
			keys += f.params.keysForFill(part.fill())
		}
	case *Cascade:
		keys = float64(f.IncludedCount())
	}
	return keys
}

// rateOfWhole is the false-positive rate by that of parts; that of a cascade is the same in all lines.
func (v *View) rateOfWhole(of func(parts []usage) float64) float64 {
	if f, ok := v.whole.(*Cascade); ok {
		return f.UnknownRate()
	}
	return of(v.partsOfWhole(true))
}
