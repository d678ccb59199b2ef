//go:build gc && !purego && !race

#include "textflag.h"

// R8 points at a StaticRows: its fields begin at 32, have 304 bytes each, 72 for each group of rows from 16 on.

// Where PARITIES has rows 0 to 7.
DATA order<>+0(SB)/4, $0
DATA order<>+4(SB)/4, $1
DATA order<>+8(SB)/4, $4
DATA order<>+12(SB)/4, $5
DATA order<>+16(SB)/4, $2
DATA order<>+20(SB)/4, $3
DATA order<>+24(SB)/4, $6
DATA order<>+28(SB)/4, $7
GLOBL order<>(SB), RODATA|NOPTR, $32

// c1, c2 and c3 of package bloomline.
DATA multipliers<>+0(SB)/8, $0x9E3779B97F4A7C15
DATA multipliers<>+8(SB)/8, $0xD6E8FEB86659FD93
DATA multipliers<>+16(SB)/8, $0xA0761D6478BD642F
GLOBL multipliers<>(SB), RODATA|NOPTR, $24

// The line of the hash in DX to CX, the hash of the next level to BX, its coefficients to each lane of Y4,
// the first eight rows ANDed with them to Y0 and Y1. R13 is -1 if the line bumps the key, else 0: the
// threshold is the sign bits of the lanes, and a position of 255 counts as 254.
#define LINE \
	MOVQ         8(R8), AX; \
	MULXQ        SI, R13, CX; \
	SHLXQ        AX, CX, CX; \
	ADDQ         DI, CX; \
	MOVQ         DX, BX; \
	IMULQ        multipliers<>+0(SB), BX; \
	ADDQ         multipliers<>+8(SB), BX; \
	MOVQ         BX, AX; \
	SHRQ         $32, AX; \
	XORQ         AX, BX; \
	IMULQ        multipliers<>+8(SB), BX; \
	MOVQ         BX, AX; \
	SHRQ         $1, AX; \
	VMOVQ        AX, X4; \
	VPBROADCASTQ X4, Y4; \
	VMOVDQU      (CX), Y0; \
	VMOVDQU      32(CX), Y1; \
	VMOVMSKPD    Y0, AX; \
	VMOVMSKPD    Y1, R9; \
	VPAND        Y4, Y0, Y0; \
	VPAND        Y4, Y1, Y1; \
	SHLQ         $4, R9; \
	ORQ          R9, AX; \
	SHRQ         $56, R13; \
	CMPQ         R13, $255; \
	ADCQ         $-1, R13; \
	CMPQ         R13, AX; \
	CMC; \
	SBBQ         R13, R13

// The coefficients of all fields to BX.
#define EXTRA \
	MOVQ  16(R8), AX; \
	IMULQ multipliers<>+16(SB), BX; \
	SHRXQ AX, BX, BX

// Those of the field at R9 from BX to each lane of Y4.
#define TAKE \
	MOVQ         32(R8)(R9*1), AX; \
	ANDQ         BX, AX; \
	VMOVQ        AX, X4; \
	VPBROADCASTQ X4, Y4; \
	MOVQ         40(R8)(R9*1), AX; \
	SHRXQ        AX, BX, BX

// Adds to four rows their part of the field at R9.
#define ADD(AT, ROWS) \
	MOVQ    AT(R8)(R9*1), AX; \
	VMOVDQU AT+8(R8)(R9*1), Y5; \
	VPERMD  (CX)(AX*1), Y5, Y5; \
	VPSRLVQ AT+40(R8)(R9*1), Y5, Y5; \
	VPAND   Y4, Y5, Y5; \
	VPXOR   Y5, ROWS, ROWS

// The parities of eight rows to TO, that of row 0 in the lowest bit: each is folded to one bit, the highest
// of 32.
#define PARITIES(LOW, HIGH, TO) \
	VSHUFPS   $0x88, HIGH, LOW, Y5; \
	VSHUFPS   $0xDD, HIGH, LOW, LOW; \
	VPXOR     Y5, LOW, LOW; \
	VPSLLD    $16, LOW, Y5; \
	VPXOR     Y5, LOW, LOW; \
	VPSLLD    $8, LOW, Y5; \
	VPXOR     Y5, LOW, LOW; \
	VPSLLD    $4, LOW, Y5; \
	VPXOR     Y5, LOW, LOW; \
	VPSLLD    $2, LOW, Y5; \
	VPXOR     Y5, LOW, LOW; \
	VPSLLD    $1, LOW, Y5; \
	VPXOR     Y5, LOW, LOW; \
	VPERMD    LOW, Y15, LOW; \
	VMOVMSKPS LOW, TO

// func Static(lines *byte, count uint64, rows *StaticRows, hashes *uint64, n uint64) (hits, bumped uint64)
TEXT ·Static(SB), NOSPLIT, $0-56
	MOVQ    lines+0(FP), DI
	MOVQ    count+8(FP), SI
	MOVQ    rows+16(FP), R8
	MOVQ    hashes+24(FP), R10
	MOVQ    n+32(FP), R11
	VMOVDQU order<>(SB), Y15
	XORL    R12, R12
	XORL    R14, R14

	// From the last hash to the first, the bits of each shifted in below the others: R14 hits, R12 bumped.
hash:
	MOVQ -8(R10)(R11*8), DX
	LINE
	XORL R9, R9
	CMPQ 8(R8), $6
	JNE  wide

	CMPQ 24(R8), R9
	JEQ  eight
	EXTRA

field:
	TAKE
	ADD(48, Y0)
	ADD(120, Y1)
	ADDQ $304, R9
	CMPQ R9, 24(R8)
	JNE  field

eight:
	PARITIES(Y0, Y1, AX)

compare:
	// Nothing is left in AX if it is a hit, all of R13 if it is bumped. Each gives a carry.
	ORQ  $1, DX
	XORQ DX, AX
	ANDQ (R8), AX
	ORQ  R13, AX
	CMPQ AX, $1
	ADCQ R14, R14
	ADDQ R13, R13
	ADCQ R12, R12
	DECQ R11
	JNE  hash

	MOVQ R14, hits+40(FP)
	MOVQ R12, bumped+48(FP)
	VZEROUPPER
	RET

wide:
	VPAND 64(CX), Y4, Y2
	VPAND 96(CX), Y4, Y3
	CMPQ  24(R8), R9
	JEQ   sixteen
	EXTRA

fieldOf16:
	TAKE
	ADD(48, Y0)
	ADD(120, Y1)
	ADD(192, Y2)
	ADD(264, Y3)
	ADDQ $304, R9
	CMPQ R9, 24(R8)
	JNE  fieldOf16

sixteen:
	PARITIES(Y0, Y1, AX)
	PARITIES(Y2, Y3, R9)
	SHLQ $8, R9
	ORQ  R9, AX
	JMP  compare
