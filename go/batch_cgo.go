//go:build bloomline_cgo

package bloomline

// Batches by the C library. C is handed pointers for the length of a call and keeps none, so
// all memory stays Go's. Should C refuse, Go does the work.

/*
#if !__has_include(<bloomline.h>)
#error bloomline.h is not here: install the C library (make install), or, with the build tag bloomline_static, build it into the source tree (make go)
#endif
#include <bloomline.h>

#if BLOOMLINE_ABI_VERSION != 0
#error this Go package needs version 0 of the binary interface of the C library
#endif

enum { LINES, STATIC, ROCKSDB, LEVELDB };

// No pointer to void: behind one, cgo looks for Go pointers in the whole of what the bytes are part of.
static int answer(int format, const bloomline_params *params, const uint8_t *data, size_t len,
                  const uint64_t *hashes, size_t n, uint64_t *bitmap)
{
	bloomline_view view;
	bloomline_status status;
	switch (format) {
	case LINES: status = bloomline_lines_view(params, data, len, &view); break;
	case STATIC: status = bloomline_view_open(data, len, BLOOMLINE_VIEW_UNVERIFIED, &view); break;
	case ROCKSDB: status = bloomline_view_open_engine(BLOOMLINE_ENGINE_ROCKSDB, data, len, &view); break;
	default: status = bloomline_view_open_engine(BLOOMLINE_ENGINE_LEVELDB, data, len, &view); break;
	}
	if (status == BLOOMLINE_OK) bloomline_view_contains_hashes(&view, hashes, n, bitmap);
	return status;
}

#cgo noescape answer
#cgo nocallback answer
#cgo noescape bloomline_lines_insert_hashes
#cgo nocallback bloomline_lines_insert_hashes
*/
import "C"

import (
	"fmt"
	"runtime"
	"unsafe"

	"github.com/bloomline/bloomline/go/internal/engine"
)

const (
	// From so many hashes on, C is faster: a call costs some 60 ns.
	leastForC = 16
	// The same beside AVX2, which is nearly as fast per hash.
	leastForCWithAVX2 = 128
)

// inGo reports whether so many hashes are done in Go.
func (l *lines) inGo(hashes int) bool {
	return hashes < leastForC || l.classic || l.rows != nil && hashes < leastForCWithAVX2
}

func init() {
	if linked := C.bloomline_abi_version(); linked != C.BLOOMLINE_ABI_VERSION {
		panic(fmt.Sprintf("bloomline: compiled against version %d of the C library's binary interface, "+
			"running with version %d (release %s): install one C library, and build again",
			C.BLOOMLINE_ABI_VERSION, linked, C.GoString(C.bloomline_version())))
	}
}

// Backend returns what answers large batches: "cgo/" and the name of the C library's backend, such as
// "cgo/avx512". Without the build tag bloomline_cgo, and if the C library has none for the name in the
// environment's BLOOMLINE_BACKEND, it returns "go/avx2" or "go".
func Backend() string {
	name := C.GoString(C.bloomline_backend())
	if name == "none" {
		return backendInGo()
	}
	return "cgo/" + name
}

func (l *lines) params() C.bloomline_params {
	return C.bloomline_params{line_count: C.uint64_t(len(l.all)), k: C.uint32_t(l.k)}
}

func (l *lines) insertAll(hashes []uint64) {
	if l.inGo(len(hashes)) {
		l.insertInGo(hashes)
		return
	}
	params := l.params()
	status := C.bloomline_lines_insert_hashes(&params,
		unsafe.Pointer(unsafe.SliceData(l.all)), C.size_t(len(l.all)*lineBytes),
		(*C.uint64_t)(unsafe.SliceData(hashes)), C.size_t(len(hashes)))
	runtime.KeepAlive(l.all)
	runtime.KeepAlive(hashes)
	if status != C.BLOOMLINE_OK {
		l.insertInGo(hashes)
	}
}

func (v *View) answer(hashes []uint64, out []uint64) {
	var format C.int
	data := v.encoded
	switch {
	case v.inGo(len(hashes)), v.column.isThere(): // C would take classic lines for others
		v.answerInGo(hashes, out)
		return
	case len(v.all) != 0:
		format, data = C.LINES, bytesOf(v.all)
	case v.static.rowShape != nil:
		format = C.STATIC
	case v.block.Layout() == engine.FastLocal, v.block.Layout() == engine.Legacy:
		format = C.ROCKSDB
	case v.block.Layout() == engine.LevelDB:
		format = C.LEVELDB
	default:
		v.answerInGo(hashes, out)
		return
	}
	params := v.params()
	status := C.answer(format, &params, (*C.uint8_t)(unsafe.SliceData(data)), C.size_t(len(data)),
		(*C.uint64_t)(unsafe.SliceData(hashes)), C.size_t(len(hashes)),
		(*C.uint64_t)(unsafe.SliceData(out)))
	runtime.KeepAlive(data)
	runtime.KeepAlive(hashes)
	runtime.KeepAlive(out)
	if status != C.BLOOMLINE_OK {
		v.answerInGo(hashes, out)
	}
}

// C, or AVX2 for fewer than 128 hashes, reads lines while others set bits in them by atomic operations
// on whole lanes. bloomline_lines_view() allows that.
func (f *ConcurrentFilter) answer(hashes []uint64, out []uint64) {
	if len(hashes) < leastForC || len(f.view.all) == 0 || f.view.classic {
		f.answerInGo(hashes, out)
		return
	}
	f.view.answer(hashes, out)
}
