package bloomline

// Static filters as bytes and files: layout 8, the lines of all levels before the footer.

// footer is what the footer says, but for the checksum.
func (s *staticLines) footer(seed, keyCount uint64) footer {
	sizes := uint64(s.sizes.second) | uint64(s.sizes.third)<<8 | uint64(s.sizes.tail)<<16
	return footer{
		KeyCount:  keyCount,
		LineCount: s.count,
		Seed:      seed,
		K:         uint32(s.Count),
		Layout:    layoutStatic.number,
		Reserved:  sizes,
	}
}

// static is the shape that a footer states, whose rows have been checked.
func (f *footer) static() staticLines {
	sizes := levelSizes{uint8(f.Reserved), uint8(f.Reserved >> 8), uint8(f.Reserved >> 16)}
	return staticLines{rowShapeOf(int(f.K)), f.LineCount, sizes}
}

func (f *footer) staticParams() StaticParams {
	return StaticParams{LineCount: f.LineCount, Rows: int(f.K), Seed: f.Seed}
}

// layoutStatic is lines of solutions, in levels.
var layoutStatic = layout{8, func(f footer) (uint64, error) { return f.staticLen() }}

func (f *footer) staticLen() (uint64, error) {
	sizes := f.static().sizes
	ends := (sizes.second > 0 || sizes.third == 0) && (sizes.third > 0 || sizes.tail == 0)
	if !ends || sizes.tail > maxTail || f.Reserved>>24 != 0 {
		return 0, ErrReserved
	}
	if err := f.staticParams().checkRead(); err != nil {
		return 0, err
	}
	lines := f.static()
	return lines.bytes(), nil
}

// StaticBlockContains reports whether a key may be present in an encoded static filter, such as the
// filter block of a table, whose checksum has been verified. It opens and probes the filter in one call, in
// two thirds of the time that [OpenViewUnverified] and [View.Contains] take. Bytes that are no static filter
// may hold any key.
func StaticBlockContains(data, key []byte) bool {
	body, f, err := readFooter(data)
	if err != nil || f.Layout != layoutStatic.number {
		return true
	}
	if size, err := f.staticLen(); err != nil || size != uint64(len(body)) {
		return true
	}
	lines := f.static()
	return lines.contains(data, Hash(key, f.Seed))
}

func (f staticData) encoded() encoded {
	if f.view.encoded == nil {
		return encoded{err: ErrNoLines}
	}
	return encoded{pieces: [][]byte{f.view.encoded}}
}

func (f *StaticFilter) decode(body []byte, footer footer, keep bool) error {
	if footer.LinesChecksum != checksum(body) {
		return ErrChecksum
	}
	// The footer lies behind the body, and is part of the filter's own bytes.
	data, err := takeLines(body[:len(body)+footerBytes], keep)
	if err != nil {
		return err
	}
	f.view = View{
		static:   footer.static(),
		encoded:  bytesOf(data),
		seed:     footer.Seed,
		keyCount: footer.KeyCount,
	}
	return nil
}
