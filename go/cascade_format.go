package bloomline

// Cascades as bytes and files: layout 9, the lines of all layers, and behind them a record for each.

const (
	// The record of a layer has key count, line count, k and the sizes of levels where a footer of layout
	// 8 has them.
	atTested     = 16
	atLayerZero  = 28
	atLayerZeros = 40
)

// cascadeLen is [footer.bodyLen] in layout 9.
func (f *footer) cascadeLen() (uint64, error) {
	layers := uint64(f.k)
	switch {
	case layers < 1 || layers > maxLayers:
		return 0, ErrK
	case f.lineCount < 1 || f.lineCount > maxLines-layers:
		return 0, ErrLineCount
	}
	return (f.lineCount + layers) * lineBytes, nil
}

func (f cascadeData) encoded() encoded {
	shape := footer{seed: f.seed, k: uint32(len(f.layers)), layout: layoutCascade}
	var body [][]byte
	records := make([]byte, 0, len(f.layers)*recordBytes)
	for i := range f.layers {
		layer, record := &f.layers[i], [recordBytes]byte{}
		stated := layer.footer(f.seed, layer.keyCount)
		le.PutUint64(record[atKeyCount:], layer.keyCount)
		le.PutUint64(record[atLineCount:], stated.lineCount)
		le.PutUint64(record[atTested:], layer.tested)
		le.PutUint32(record[atK:], stated.k)
		le.PutUint64(record[atReserved:], stated.reserved)
		records = append(records, record[:]...)
		body = append(body, layer.lines)
		shape.lineCount += uint64(len(layer.lines)) / lineBytes
	}
	if len(f.layers) > 0 {
		shape.keyCount = f.layers[0].keyCount
	}
	shape.reserved = checksum(records)
	return encode(shape, append(body, records)...)
}

func (*Cascade) layouts() []uint16 {
	return []uint16{layoutCascade}
}

func (f *Cascade) decode(body []byte, shape footer, keep bool) error {
	lines := shape.lineCount * lineBytes
	if shape.linesChecksum != checksum(body) || shape.reserved != checksum(body[lines:]) {
		return ErrChecksum
	}
	made, left := cascadeData{seed: shape.seed}, lines
	for records := body[lines:]; len(records) > 0; records = records[recordBytes:] {
		layer, size, err := readLayer(records[:recordBytes])
		if err == nil && (size > left || len(records) == recordBytes && size < left) {
			err = ErrLineCount // there are fewer, or no layer has them
		}
		if err != nil {
			return err
		}
		left -= size
		made.layers = append(made.layers, layer)
	}
	own, err := takeLines(body[:lines], keep)
	if err != nil {
		return err
	}
	rest := bytesOf(own)
	for i := range made.layers {
		size := made.layers[i].bytes()
		made.layers[i].lines, rest = rest[:size:size], rest[size:]
	}
	f.cascadeData = made
	return nil
}

// readLayer is what the record of a layer says, and how long its lines are.
func readLayer(record []byte) (l cascadeLayer, size uint64, err error) {
	for i, zero := range record {
		if zero != 0 && (i >= atLayerZero && i < atReserved || i >= atLayerZeros) {
			return l, 0, ErrReserved
		}
	}
	stated := footer{
		lineCount: le.Uint64(record[atLineCount:]),
		k:         le.Uint32(record[atK:]),
		reserved:  le.Uint64(record[atReserved:]),
	}
	size, err = stated.staticLen()
	if err != nil {
		return l, 0, err
	}
	l.staticLines = stated.static()
	l.keyCount, l.tested = le.Uint64(record[atKeyCount:]), le.Uint64(record[atTested:])
	return l, size, nil
}
