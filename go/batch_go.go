//go:build !bloomline_cgo

package bloomline

// Batches without C.

// Backend returns what probes: "go/avx2" where the CPU has AVX2, otherwise "go". If the environment's
// BLOOMLINE_BACKEND is neither "avx2" nor "avx512", it is "go". With the build tag bloomline_cgo it
// returns "cgo/" and the name of the C library's backend, such as "cgo/avx512", which answers batches.
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
