//go:build !bloomline_cgo

package bloomline

// Batches without C.

// Backend returns what answers batches: "go", whatever BLOOMLINE_BACKEND says. With the build tag
// bloomline_cgo it returns "cgo/" and the name of the C library's backend, such as "cgo/avx512".
func Backend() string {
	return "go"
}

func (l *lines) insertAll(hashes []uint64) {
	l.insertInGo(hashes)
}

func (v *View) answer(hashes []uint64, out []uint64) {
	v.answerInGo(hashes, out)
}

func (f *ConcurrentFilter) answer(hashes []uint64, out []uint64) {
	f.answerInGo(hashes, out)
}
