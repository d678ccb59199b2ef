//go:build gc && !purego && !race

#include "textflag.h"

// Lane i has its bit number at bit 13 + 6 i of the product.
DATA ·shifts+0(SB)/8, $13
DATA ·shifts+8(SB)/8, $19
DATA ·shifts+16(SB)/8, $25
DATA ·shifts+24(SB)/8, $31
DATA ·shifts+32(SB)/8, $37
DATA ·shifts+40(SB)/8, $43
DATA ·shifts+48(SB)/8, $49
DATA ·shifts+56(SB)/8, $55
GLOBL ·shifts(SB), RODATA|NOPTR, $64

DATA ·low6+0(SB)/8, $63
GLOBL ·low6(SB), RODATA|NOPTR, $8

// The multiplier of the first round: c1 in line.go.
#define C1 $0x9E3779B97F4A7C15

// What stays the same for all hashes:
//   DI lines, SI count, R8 rows, R9 c1, Y13 Y14 shifts, Y15 63 in each lane
#define SETUP \
	MOVQ         lines+0(FP), DI; \
	MOVQ         count+8(FP), SI; \
	MOVQ         rows+16(FP), R8; \
	MOVQ         C1, R9; \
	VMOVDQU      ·shifts+0(SB), Y13; \
	VMOVDQU      ·shifts+32(SB), Y14; \
	VPBROADCASTQ ·low6(SB), Y15

// The hash in DX: its line to CX, its product to BX, the bit numbers of its lanes to Y0 and Y1.
#define LOCATE \
	MOVQ         DX, BX; \
	IMULQ        R9, BX; \
	VMOVQ        BX, X0; \
	VPBROADCASTQ X0, Y0; \
	MULXQ        SI, AX, CX; \
	SHLQ         $6, CX; \
	ADDQ         DI, CX; \
	VPSRLVQ      Y14, Y0, Y1; \
	VPSRLVQ      Y13, Y0, Y0; \
	VPAND        Y15, Y1, Y1; \
	VPAND        Y15, Y0, Y0

// Sets the carry if all bits of the hash in DX are set. The bit of each lane goes to its lowest one;
// one shuffle makes one register of both halves, and the row tells which lanes count.
#define PROBE \
	LOCATE; \
	VMOVDQU (CX), Y2; \
	VMOVDQU 32(CX), Y3; \
	VPSRLVQ Y0, Y2, Y2; \
	VPSRLVQ Y1, Y3, Y3; \
	VSHUFPS $0x88, Y3, Y2, Y2; \
	SHRQ    $61, BX; \
	SHLQ    $5, BX; \
	VPTEST  (R8)(BX*1), Y2

// Sets the bits of the hash in DX.
#define SET \
	LOCATE; \
	SHRQ    $61, BX; \
	SHLQ    $6, BX; \
	VMOVDQU 256(R8)(BX*1), Y2; \
	VMOVDQU 288(R8)(BX*1), Y3; \
	VPSLLVQ Y0, Y2, Y2; \
	VPSLLVQ Y1, Y3, Y3; \
	VPOR    (CX), Y2, Y2; \
	VPOR    32(CX), Y3, Y3; \
	VMOVDQU Y2, (CX); \
	VMOVDQU Y3, 32(CX)

// func Contains(lines *byte, count uint64, rows *Rows, hash uint64) bool
TEXT ·Contains(SB), NOSPLIT, $0-33
	SETUP
	MOVQ hash+24(FP), DX
	PROBE
	SETCS ret+32(FP)
	VZEROUPPER
	RET

// func Insert(lines *byte, count uint64, rows *Rows, hash uint64)
TEXT ·Insert(SB), NOSPLIT, $0-32
	SETUP
	MOVQ hash+24(FP), DX
	SET
	VZEROUPPER
	RET

// func ContainsWord(lines *byte, count uint64, rows *Rows, hashes *uint64, n uint64) uint64
TEXT ·ContainsWord(SB), NOSPLIT, $0-48
	SETUP
	MOVQ hashes+24(FP), R10
	MOVQ n+32(FP), R11
	XORL R12, R12

	// From the last hash to the first, each answer shifted in below the others.
word:
	MOVQ -8(R10)(R11*8), DX
	PROBE
	ADCQ R12, R12
	DECQ R11
	JNE  word

	MOVQ R12, ret+40(FP)
	VZEROUPPER
	RET

// func ContainsMembers(members *Member, count uint64, rows *Rows, hash uint64) uint64
TEXT ·ContainsMembers(SB), NOSPLIT, $0-40
	MOVQ members+0(FP), R10
	MOVQ count+8(FP), R11
	MOVQ rows+16(FP), R8
	MOVQ hash+24(FP), DX

	// The bits of the hash, the same for all, to Y2 and Y3.
	MOVQ         C1, BX
	IMULQ        DX, BX
	VMOVQ        BX, X0
	VPBROADCASTQ X0, Y0
	VPBROADCASTQ ·low6(SB), Y15
	VPSRLVQ      ·shifts+32(SB), Y0, Y1
	VPSRLVQ      ·shifts+0(SB), Y0, Y0
	VPAND        Y15, Y1, Y1
	VPAND        Y15, Y0, Y0
	SHRQ         $61, BX
	SHLQ         $6, BX
	VMOVDQU      256(R8)(BX*1), Y2
	VMOVDQU      288(R8)(BX*1), Y3
	VPSLLVQ      Y0, Y2, Y2
	VPSLLVQ      Y1, Y3, Y3

	// What they leave open: a line with all of them makes ones of it.
	VPCMPEQD Y4, Y4, Y4
	VPXOR    Y4, Y2, Y2
	VPXOR    Y4, Y3, Y3
	SHLQ     $4, R11
	XORL     R12, R12

	// From the last filter to the first, as in ContainsWord.
member:
	MULXQ  -8(R10)(R11*1), AX, CX
	SHLQ   $6, CX
	ADDQ   -16(R10)(R11*1), CX
	VPOR   (CX), Y2, Y0
	VPOR   32(CX), Y3, Y1
	VPAND  Y0, Y1, Y0
	VPTEST Y4, Y0
	ADCQ   R12, R12
	SUBQ   $16, R11
	JNE    member

	MOVQ R12, ret+32(FP)
	VZEROUPPER
	RET

// func InsertAll(lines *byte, count uint64, rows *Rows, hashes *uint64, n uint64)
TEXT ·InsertAll(SB), NOSPLIT, $0-40
	SETUP
	MOVQ hashes+24(FP), R10
	MOVQ n+32(FP), R11

insert:
	MOVQ (R10), DX
	SET
	ADDQ $8, R10
	DECQ R11
	JNE  insert

	VZEROUPPER
	RET

// func AndRows(group *byte, rows *int, k uint64, out *uint64, words uint64)
TEXT ·AndRows(SB), NOSPLIT, $0-40
	MOVQ group+0(FP), DI
	MOVQ rows+8(FP), SI
	MOVQ k+16(FP), R8
	MOVQ out+24(FP), R9
	MOVQ words+32(FP), R10

	// 16 words at a time, then 4, then 1; from the last row to the first.
sixteen:
	SUBQ     $16, R10
	JCS      four
	VPCMPEQD Y0, Y0, Y0
	VMOVDQA  Y0, Y1
	VMOVDQA  Y0, Y2
	VMOVDQA  Y0, Y3
	MOVQ     R8, R11

row16:
	MOVQ    -8(SI)(R11*8), AX
	VPAND   (DI)(AX*1), Y0, Y0
	VPAND   32(DI)(AX*1), Y1, Y1
	VPAND   64(DI)(AX*1), Y2, Y2
	VPAND   96(DI)(AX*1), Y3, Y3
	DECQ    R11
	JNE     row16
	VMOVDQU Y0, (R9)
	VMOVDQU Y1, 32(R9)
	VMOVDQU Y2, 64(R9)
	VMOVDQU Y3, 96(R9)
	ADDQ    $128, DI
	ADDQ    $128, R9
	JMP     sixteen

four:
	ADDQ $16, R10

next4:
	SUBQ     $4, R10
	JCS      one
	VPCMPEQD Y0, Y0, Y0
	MOVQ     R8, R11

row4:
	MOVQ    -8(SI)(R11*8), AX
	VPAND   (DI)(AX*1), Y0, Y0
	DECQ    R11
	JNE     row4
	VMOVDQU Y0, (R9)
	ADDQ    $32, DI
	ADDQ    $32, R9
	JMP     next4

one:
	ADDQ $4, R10
	JEQ  done

next1:
	MOVQ $-1, BX
	MOVQ R8, R11

row1:
	MOVQ -8(SI)(R11*8), AX
	ANDQ (DI)(AX*1), BX
	DECQ R11
	JNE  row1
	MOVQ BX, (R9)
	ADDQ $8, DI
	ADDQ $8, R9
	DECQ R10
	JNE  next1

done:
	VZEROUPPER
	RET

// func Prefetch(lines *byte, count uint64, hashes *uint64, n uint64)
TEXT ·Prefetch(SB), NOSPLIT, $0-32
	MOVQ lines+0(FP), DI
	MOVQ count+8(FP), SI
	MOVQ hashes+16(FP), R10
	MOVQ n+24(FP), R11

prefetch:
	MOVQ        (R10), DX
	MULXQ       SI, AX, CX
	SHLQ        $6, CX
	PREFETCHT0  (DI)(CX*1)
	ADDQ        $8, R10
	DECQ        R11
	JNE         prefetch
	RET
