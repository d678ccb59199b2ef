package bloomline

// Cascades as bytes and files: layout 9, the lines of all layers, and behind them a record for each.

import "io"

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

// AppendBinary appends the encoded cascade to data, as [encoding.BinaryAppender]. The zero Cascade has no
// encoded form: [ErrLineCount].
func (f *Cascade) AppendBinary(data []byte) ([]byte, error) {
	return orZero(f).encoded().appendTo(data)
}

// MarshalBinary returns the encoded cascade, as [encoding.BinaryMarshaler]. It is the format of the C
// library, and of all languages that Bloomline is used from. No [View] reads it.
func (f *Cascade) MarshalBinary() ([]byte, error) {
	return f.AppendBinary(nil)
}

// UnmarshalBinary makes this the cascade that data encodes, as [encoding.BinaryUnmarshaler]. All of it is
// checked, and copied.
//
// Errors: those of [OpenView], of which [ErrLayout] is also the one for any filter; the cascade is then
// unchanged.
func (f *Cascade) UnmarshalBinary(data []byte) error {
	return unmarshal(data, f, false)
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

// WriteTo writes the encoded cascade, as [io.WriterTo], without a copy of the lines.
func (f *Cascade) WriteTo(w io.Writer) (int64, error) {
	return orZero(f).encoded().writeTo(w)
}

// ReadFrom makes this the cascade that r holds, as [io.ReaderFrom]. It reads r to its end, up to a limit:
// see [Filter.ReadFrom].
//
// Errors: [ErrTooLong], those of [Cascade.UnmarshalBinary], and of r; the cascade is then unchanged.
func (f *Cascade) ReadFrom(r io.Reader) (int64, error) {
	return readFrom(r, f)
}

// WriteDelimited writes the length of the encoded cascade, 8 bytes with the lowest first, and the encoded
// cascade: for streams in which something follows. [Cascade.ReadDelimited] reads it.
func (f *Cascade) WriteDelimited(to io.Writer) (int64, error) {
	return orZero(f).encoded().writeDelimited(to)
}

// ReadDelimited makes this the cascade that [Cascade.WriteDelimited] wrote, and reads no further. A length
// above limit is rejected before memory is taken, and memory grows with what arrives.
//
// Errors: [io.EOF] if nothing comes, [io.ErrUnexpectedEOF] if it ends too early, [ErrTooLong]; those of r
// and of [Cascade.UnmarshalBinary]. The cascade is then unchanged.
func (f *Cascade) ReadDelimited(from io.Reader, limit int64) (int64, error) {
	return readDelimited(from, limit, f)
}

// Save writes the cascade to a file, atomically: see [Filter.Save].
func (f *Cascade) Save(path string) error {
	return save(path, f)
}

// LoadCascade reads a cascade from a file. All of it is checked.
//
// Errors: those of the system, and those of [Cascade.UnmarshalBinary]; they name the file.
func LoadCascade(path string) (*Cascade, error) {
	return load(path, new(Cascade))
}

// MarshalText returns the encoded cascade in base64, as [encoding.TextMarshaler]. It is a string in JSON.
// That of the zero Cascade is empty.
func (f cascadeData) MarshalText() ([]byte, error) { return f.encoded().text() }

// UnmarshalText reads what MarshalText wrote, as [encoding.TextUnmarshaler]. All of it is checked.
//
// Errors: those of [Cascade.UnmarshalBinary], and of base64; the cascade is then unchanged.
func (f *Cascade) UnmarshalText(text []byte) error { return fromText(text, f) }

// GobEncode returns the encoded cascade, as [gob.GobEncoder], of the zero Cascade no bytes.
func (f cascadeData) GobEncode() ([]byte, error) { return f.encoded().gob() }

// GobDecode reads what GobEncode wrote, as [gob.GobDecoder].
func (f *Cascade) GobDecode(data []byte) error { return fromGob(data, f) }

func (f *Cascade) reset() { f.cascadeData = cascadeData{} }
