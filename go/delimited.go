package bloomline

// Filters in streams. A filter says at its end what it is, so that it can be probed where it lies:
// in a stream its length has to stand in front of it, or it has to be all that comes.

import (
	"errors"
	"io"
)

const (
	// DefaultReadLimit is how many bytes the ReadFrom of a filter takes from a reader that does
	// not say how many it has: 128 MiB, a plain filter of 100 million keys at 1 %. Hand it an
	// [io.LimitedReader] for another limit.
	DefaultReadLimit = 128 << 20

	lengthBytes = 8
	// Memory is taken for so many bytes at first, and then for twice as many as have arrived.
	firstRead = 1 << 16
)

// writeDelimited is the WriteDelimited of all filters.
func (e encoded) writeDelimited(w io.Writer) (int64, error) {
	if e.err == nil {
		e.pieces = append([][]byte{le.AppendUint64(nil, uint64(e.len()))}, e.pieces...)
	}
	return e.writeTo(w)
}

// readDelimited is the ReadDelimited of all filters.
func readDelimited(r io.Reader, limit int64, into kind) (int64, error) {
	mustBeThere(into)
	var length [lengthBytes]byte
	n, err := io.ReadFull(r, length[:])
	if err != nil {
		return int64(n), err
	}
	size := le.Uint64(length[:])
	if limit < 0 || size > uint64(limit) || size > uint64(maxLen) {
		return lengthBytes, ErrTooLong
	}
	data, err := readUpTo(r, int(size))
	read := lengthBytes + int64(len(data))
	switch {
	case err != nil:
		return read, err
	case uint64(len(data)) < size:
		return read, io.ErrUnexpectedEOF
	}
	return read, unmarshal(data, into, true)
}

// readFrom is the ReadFrom of all filters.
func readFrom(r io.Reader, into kind) (int64, error) {
	mustBeThere(into)
	limit, limited := int64(DefaultReadLimit), false
	if known, err := peekFooter(r, into); err != nil {
		return 0, err
	} else if known > 0 {
		limit = known
	} else if reader, ok := r.(*io.LimitedReader); ok {
		limit, limited = reader.N, true
	}
	most := int(min(max(limit, 0), maxLen-1))
	data, err := readUpTo(r, most+1)
	switch {
	case err != nil:
		return int64(len(data)), err
	case len(data) > most:
		return int64(len(data)), ErrTooLong
	}
	// Half of the memory may have been taken in vain.
	err = unmarshal(data, into, len(data) >= cap(data)/8*7)
	if err != nil && limited && len(data) == most {
		err = errors.Join(ErrTooLong, err)
	}
	return int64(len(data)), err
}

// peekFooter looks at the footer of what can be read from its end, before anything else is read.
// It returns how many bytes there are, or 0 if that is not known.
func peekFooter(r io.Reader, into kind) (int64, error) {
	seeker, ok := r.(io.Seeker)
	if !ok {
		return 0, nil
	}
	at, err := seeker.Seek(0, io.SeekCurrent)
	if err != nil {
		return 0, nil // a pipe
	}
	end, err := seeker.Seek(0, io.SeekEnd)
	if err != nil {
		return 0, nil
	}
	var footer [footerBytes]byte
	size := end - at
	if size >= footerBytes {
		if _, err = seeker.Seek(end-footerBytes, io.SeekStart); err == nil {
			_, err = io.ReadFull(r, footer[:])
		}
	}
	if _, back := seeker.Seek(at, io.SeekStart); back != nil {
		return 0, back
	}
	if size < footerBytes { // or a device, which has no end
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return size, checkFooter(footer[:], uint64(size), into)
}

// checkFooter checks all that a footer says of so many bytes, before memory is taken for them.
func checkFooter(footer []byte, size uint64, into kind) error {
	_, f, err := readFooter(footer)
	if err == nil {
		err = f.check(size-footerBytes, into.layouts())
	}
	return err
}

// readUpTo reads so many bytes, or all if there are fewer, into memory of their own that grows
// with what arrives.
func readUpTo(r io.Reader, most int) ([]byte, error) {
	data, err := newBytes(min(most, firstRead))
	if err != nil {
		return nil, err
	}
	for at, idle := 0, 0; at < most; {
		if at == len(data) {
			grown, err := newBytes(min(2*len(data), most))
			if err != nil {
				return data, err
			}
			copy(grown, data)
			data = grown
		}
		n, err := r.Read(data[at:])
		at += n
		if idle++; n > 0 {
			idle = 0
		}
		switch {
		case err == io.EOF: // as readers have to return it, not wrapped
			return data[:at], nil
		case err == nil && idle == 100:
			err = io.ErrNoProgress
		}
		if err != nil {
			return data[:at], err
		}
	}
	return data, nil
}
