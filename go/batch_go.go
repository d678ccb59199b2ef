//go:build !bloomline_cgo

package bloomline

// Batches without C.

// Backend returns "go/avx2" if AVX2 probes lines with k up to 8, and static lines. It returns "go" if the CPU has no
// AVX2, with the build tag purego or the race detector, and if the environment sets BLOOMLINE_BACKEND
// to something other than "avx2" or "avx512". With the build tag bloomline_cgo it returns "cgo/" and
// the C library's backend, such as "cgo/avx512", which answers large batches.
func Backend() string {
	return backendInGo()
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
