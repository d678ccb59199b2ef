package bloomline

// Cascades as bytes and files: layout 9, the lines of all layers, and behind them a record for each.

import "github.com/bloomline/bloomline/go/internal/format"

const (
	// The record of a layer has key count, line count, k and the sizes of levels where a footer of layout
	// 8 has them.
	atTested     = 16
	atLayerZero  = 28
	atLayerZeros = 40
)

// layoutCascade is the lines of all layers, and behind them a record for each.
var layoutCascade = layout{9, footer.cascadeLen}

func (f footer) cascadeLen() (uint64, error) {
	layers := uint64(f.K)
	switch {
	case layers < 1 || layers > maxLayers:
		return 0, ErrK
	case f.LineCount < 1 || f.LineCount > maxLines-layers:
		return 0, ErrLineCount
	}
	return (f.LineCount + layers) * lineBytes, nil
}

func (f cascadeData) encoded() encoded {
	shape := footer{Seed: f.seed, K: uint32(len(f.layers)), Layout: layoutCascade.number}
	var body [][]byte
	records := make([]byte, 0, len(f.layers)*recordBytes)
	for i := range f.layers {
		layer, record := &f.layers[i], [recordBytes]byte{}
		stated := layer.footer(f.seed, layer.keyCount)
		le.PutUint64(record[format.AtKeyCount:], layer.keyCount)
		le.PutUint64(record[format.AtLineCount:], stated.LineCount)
		le.PutUint64(record[atTested:], layer.tested)
		le.PutUint32(record[format.AtK:], stated.K)
		le.PutUint64(record[format.AtReserved:], stated.Reserved)
		records = append(records, record[:]...)
		body = append(body, layer.lines)
		shape.LineCount += uint64(len(layer.lines)) / lineBytes
	}
	if len(f.layers) > 0 {
		shape.KeyCount = f.layers[0].keyCount
	}
	shape.Reserved = checksum(records)
	return encode(shape, append(body, records)...)
}

func (f *Cascade) decode(body []byte, shape footer, keep bool) error {
	lines := shape.LineCount * lineBytes
	if shape.LinesChecksum != checksum(body) || shape.Reserved != checksum(body[lines:]) {
		return ErrChecksum
	}
	made, left := cascadeData{seed: shape.Seed}, lines
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
		if zero != 0 && (i >= atLayerZero && i < format.AtReserved || i >= atLayerZeros) {
			return l, 0, ErrReserved
		}
	}
	stated := footer{
		LineCount: le.Uint64(record[format.AtLineCount:]),
		K:         le.Uint32(record[format.AtK:]),
		Reserved:  le.Uint64(record[format.AtReserved:]),
	}
	size, err = stated.staticLen()
	if err != nil {
		return l, 0, err
	}
	l.staticLines = stated.static()
	l.keyCount, l.tested = le.Uint64(record[format.AtKeyCount:]), le.Uint64(record[atTested:])
	return l, size, nil
}
