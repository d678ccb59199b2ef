//go:build gc

#include "textflag.h"

// func Line(at *byte)
TEXT ·Line(SB), NOSPLIT, $0-8
	MOVD at+0(FP), R0
	PRFM (R0), PLDL1KEEP
	RET
