package bloomline

import "syscall"

// adviseHugePages is a wish for whole pages; where it is not granted, filters are slower and no
// worse.
func adviseHugePages(pages []byte) {
	_ = syscall.Madvise(pages, syscall.MADV_HUGEPAGE)
}
