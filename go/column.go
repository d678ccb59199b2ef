package bloomline

// Columns of matrices as filters by themselves.

import (
	"math/bits"

	"github.com/bloomline/bloomline/go/internal/format"
	"github.com/bloomline/bloomline/go/internal/prefetch"
)

// columnLines is a column of a matrix, whose bits lie in the rows. The zero columnLines is none.
type columnLines struct {
	groups []byte // of the whole matrix; none if it is no column
	count  uint64 // of groups: the lines of the column
	words  int    // of a row
	k      int
	column int
}

// ColumnView returns a column as a filter by itself, to be probed as any other View. A [Group] finds the
// columns of one matrix among its filters, and asks all of them by one probe of the rows. It sees what is
// changed later, and must not be used while something is. What it says of its fill and rate reads the rows
// of all columns.
//
// Errors: [ErrColumn] if there is no such column.
func (m *Matrix) ColumnView(column int) (View, error) {
	return orZero(m).view.columnView(column)
}

// ColumnView is [Matrix.ColumnView].
func (v MatrixView) ColumnView(column int) (View, error) {
	return v.columnView(column)
}

func (v *MatrixView) columnView(column int) (View, error) {
	if column < 0 || column >= v.shape.columns {
		return View{}, ErrColumn
	}
	params := &v.shape.params
	lines := columnLines{v.groups, params.LineCount, v.shape.Words(), params.K, column}
	return View{column: lines, seed: params.Seed, owner: v.owner}, nil
}

// isThere reports whether it is a column.
func (c *columnLines) isThere() bool { return len(c.groups) != 0 }

func (c *columnLines) params(seed uint64) Params {
	return Params{LineCount: c.count, K: c.k, Seed: seed}
}

// matrixKey is what the columns of one matrix have in common; the zero matrixKey is that of none.
type matrixKey struct {
	first    *byte
	count    uint64
	words, k int
}

func (c *columnLines) matrix() matrixKey {
	if !c.isThere() {
		return matrixKey{}
	}
	return matrixKey{&c.groups[0], c.count, c.words, c.k}
}

// group is that of a hash.
func (c *columnLines) group(hash uint64) []byte {
	size := matrixRows * wordBytes * c.words
	return c.groups[int(format.Index(hash, c.count))*size:][:size]
}

func (c *columnLines) contains(hash uint64) bool {
	var rows [maxK]int
	group, set := c.group(hash)[c.column/8:], byte(255)
	for _, row := range matrixRowsOf(hash, c.k, wordBytes*c.words, &rows) {
		set &= group[row]
	}
	return set>>(c.column%8)&1 != 0
}

// answerWord answers at most 64 hashes.
func (c *columnLines) answerWord(hashes []uint64) (answers uint64) {
	for i, hash := range hashes {
		if c.contains(hash) {
			answers |= 1 << i
		}
	}
	return answers
}

func (c *columnLines) prefetch(hash uint64) {
	if !c.isThere() {
		return
	}
	var rows [maxK]int
	group := c.group(hash)[c.column/8:]
	for _, row := range matrixRowsOf(hash, c.k, wordBytes*c.words, &rows) {
		prefetch.Line(&group[row])
	}
}

// line is line i of the column.
func (c *columnLines) line(i int) (l line) {
	size := wordBytes * c.words
	rows := c.groups[i*matrixRows*size+c.column/8:]
	for row := range matrixRows {
		l[row/8] |= rows[row*size] >> (c.column % 8) & 1 << (row % 8)
	}
	return l
}

// lines is a copy of all lines.
func (c *columnLines) lines() ([]line, error) {
	all, err := newSlice[line](int(c.count))
	for i := range all {
		all[i] = c.line(i)
	}
	return all, err
}

// usage is that of all lines.
func (c *columnLines) usage(rated bool) usage {
	u := usage{k: c.k, rated: rated}
	for i := range int(c.count) {
		l := [1]line{c.line(i)}
		u.add(l[:])
	}
	return u
}

// ---- several columns of a matrix ----

// groupColumns is columns of one matrix in a group, none twice.
type groupColumns struct {
	of     columnLines // one of them
	live   []uint64    // a bit for each
	places []uint32    // by the number of the column: which of the views it is
	spans  []wordSpan
	// From this word of the answers on they are those of all columns, in order.
	direct int
	// The answers are shifted by so many bits, if shifted is set.
	shift   int
	shifted bool
}

// wordSpan is words of the rows that are asked for at once.
type wordSpan struct{ first, count int }

// spanGap is how many words without a column are read along: two cache lines.
const spanGap = 16

func newGroupColumns(of *columnLines) *groupColumns {
	c := &groupColumns{of: *of, live: make([]uint64, of.words), direct: -1}
	c.places = make([]uint32, 64*of.words)
	return c
}

func (c *groupColumns) add(column, place int) {
	c.live[column/64] |= 1 << (column % 64)
	c.places[column] = uint32(place)
}

// finish is called once all columns are in, of a group of so many views.
func (c *groupColumns) finish(views int) {
	first, last, count := -1, 0, 0
	c.shifted = true
	for word, live := range c.live {
		for set := live; set != 0; set &= set - 1 {
			column := 64*word + bits.TrailingZeros64(set)
			if first < 0 {
				first, c.shift = column, int(c.places[column])-column
			}
			c.shifted = c.shifted && int(c.places[column])-column == c.shift
			last, count = column, count+1
		}
		if live == 0 {
			continue
		}
		if n := len(c.spans); n > 0 && word-(c.spans[n-1].first+c.spans[n-1].count) < spanGap {
			c.spans[n-1].count = word + 1 - c.spans[n-1].first
		} else {
			c.spans = append(c.spans, wordSpan{word, 1})
		}
	}
	if end := last + 1 + c.shift; c.shifted && first%64 == 0 && c.shift%64 == 0 &&
		count == last+1-first && (end%64 == 0 || end == views) {
		c.direct = (first + c.shift) / 64
	}
}

// answer adds the answers for a hash.
func (c *groupColumns) answer(hash uint64, out []uint64) {
	var rows [maxK]int
	group := c.of.group(hash)
	of := matrixRowsOf(hash, c.of.k, wordBytes*c.of.words, &rows)
	if c.direct >= 0 {
		span := c.spans[0]
		out = out[c.direct:][:span.count]
		andRows(group[wordBytes*span.first:], of, out)
		out[len(out)-1] &= c.live[span.first+span.count-1]
		return
	}
	var room [atATime]uint64
	for _, span := range c.spans {
		for span.count > 0 {
			part := room[:min(span.count, atATime)]
			andRows(group[wordBytes*span.first:], of, part)
			for i, word := range part {
				c.put(span.first+i, word&c.live[span.first+i], out)
			}
			span.first, span.count = span.first+len(part), span.count-len(part)
		}
	}
}

// put adds the answers in a word of the rows.
func (c *groupColumns) put(number int, word uint64, out []uint64) {
	if c.shifted {
		to := 64*number + c.shift
		at, bit := to>>6, to&63
		// Bits that would go before the first word or behind the last stand for no column.
		if at >= 0 && at < len(out) {
			out[at] |= word << bit
		}
		if at+1 >= 0 && at+1 < len(out) {
			out[at+1] |= word >> (64 - bit)
		}
		return
	}
	// Few filters have a key.
	for ; word != 0; word &= word - 1 {
		place := c.places[64*number+bits.TrailingZeros64(word)]
		out[place/64] |= 1 << (place % 64)
	}
}
