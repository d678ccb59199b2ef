//go:build gc && !purego && !race

#include "textflag.h"

// Where in a group, counted in rows, the lanes begin.
DATA firstRows<>+0(SB)/8, $0
DATA firstRows<>+8(SB)/8, $64
DATA firstRows<>+16(SB)/8, $128
DATA firstRows<>+24(SB)/8, $192
DATA firstRows<>+32(SB)/8, $256
DATA firstRows<>+40(SB)/8, $320
DATA firstRows<>+48(SB)/8, $384
DATA firstRows<>+56(SB)/8, $448
GLOBL firstRows<>(SB), RODATA|NOPTR, $64

#define C1 $0x9E3779B97F4A7C15
#define C2 $0xD6E8FEB86659FD93

// The rows of a matrix, for batches: where the rows of a hash begin is computed 8 hashes before they are combined.
// So no load waits for a store of its address, and rows that are far can be asked for.

// R8 points at a Matrix; its fields:
#define FIRST 0(R8)
#define LINES 8(R8)
#define GROUP 16(R8)
#define ROW 24(R8)
#define WORDS 32(R8)
#define K 40(R8)
#define LAST 48(R8)
#define AHEAD 56(R8)

// A slot is the addresses of the rows of one hash: room for three rounds of 8, somewhere in which k follow
// each other, and the address of the first of these.
#define SLOT 256
#define SLOTS 8

// Behind them: at which slot the first is next again.
#define WRAP 2048(R13)

// The rows of all lanes of the product in BX, in the group at Y3, to Y0 and Y1; the first lane that counts to BX.
#define LANES \
	VMOVQ        BX, X0; \
	VPBROADCASTQ X0, Y0; \
	VPSRLVQ      Y14, Y0, Y1; \
	VPSRLVQ      Y13, Y0, Y0; \
	VPAND        Y15, Y1, Y1; \
	VPAND        Y15, Y0, Y0; \
	VPOR         Y12, Y1, Y1; \
	VPOR         Y11, Y0, Y0; \
	VPMULUDQ     Y10, Y1, Y1; \
	VPMULUDQ     Y10, Y0, Y0; \
	VPADDQ       Y3, Y1, Y1; \
	VPADDQ       Y3, Y0, Y0; \
	SHRQ         $61, BX; \
	NEGQ         BX; \
	ANDQ         $7, BX

// A round's rows to these addresses.
#define WRITE(AT) \
	VMOVDQU Y0, AT; \
	VMOVDQU Y1, 32+AT

// func AndRowsOf(matrix *Matrix, hashes *uint64, n uint64, out *uint64)
TEXT ·AndRowsOf(SB), 0, $2176-32
	MOVQ matrix+0(FP), R8
	MOVQ hashes+8(FP), R10
	MOVQ n+16(FP), R12
	MOVQ out+24(FP), R9

	VMOVDQU      ·shifts+0(SB), Y13
	VMOVDQU      ·shifts+32(SB), Y14
	VPBROADCASTQ ·low6(SB), Y15
	VMOVDQU      firstRows<>+0(SB), Y11
	VMOVDQU      firstRows<>+32(SB), Y12
	VPBROADCASTQ ROW, Y10

	// The slots begin at R13, in cache lines of their own: a vector stored across two would keep the loads of
	// its words waiting. R14 is the slot at work. The rows of hash R11 are combined, and
	// the hash so many behind takes its slot.
	LEAQ    63(SP), R13
	ANDQ    $~63, R13
	XORL    R14, R14
	MOVL    $SLOTS, R11
	CMPQ    R12, R11
	CMOVQCS R12, R11
	MOVQ    R11, AX
	SHLQ    $8, AX
	MOVQ    AX, WRAP
	NEGQ    R11

next:
	TESTQ R11, R11
	JLT   place

	// SI the addresses of the rows, BX words left, DX bytes into the rows.
	MOVQ 192(R13)(R14*1), SI
	MOVQ WORDS, BX
	CMPQ BX, $1
	JEQ  single
	XORL DX, DX

sixteen:
	SUBQ     $16, BX
	JCS      eight
	MOVQ     K, CX
	VPCMPEQD Y0, Y0, Y0
	VMOVDQA  Y0, Y1
	VMOVDQA  Y0, Y2
	VMOVDQA  Y0, Y3

row16:
	MOVQ    -8(SI)(CX*8), AX
	VPAND   (AX)(DX*1), Y0, Y0
	VPAND   32(AX)(DX*1), Y1, Y1
	VPAND   64(AX)(DX*1), Y2, Y2
	VPAND   96(AX)(DX*1), Y3, Y3
	DECQ    CX
	JNE     row16
	VMOVDQU Y0, (R9)
	VMOVDQU Y1, 32(R9)
	VMOVDQU Y2, 64(R9)
	VMOVDQU Y3, 96(R9)
	ADDQ    $128, DX
	ADDQ    $128, R9
	JMP     sixteen

eight:
	ADDQ     $8, BX
	JNC      four
	MOVQ     K, CX
	VPCMPEQD Y0, Y0, Y0
	VMOVDQA  Y0, Y1

row8:
	MOVQ    -8(SI)(CX*8), AX
	VPAND   (AX)(DX*1), Y0, Y0
	VPAND   32(AX)(DX*1), Y1, Y1
	DECQ    CX
	JNE     row8
	VMOVDQU Y0, (R9)
	VMOVDQU Y1, 32(R9)
	ADDQ    $64, DX
	ADDQ    $64, R9
	SUBQ    $8, BX

four:
	ADDQ     $4, BX
	JNC      ones
	MOVQ     K, CX
	VPCMPEQD Y0, Y0, Y0

row4:
	MOVQ    -8(SI)(CX*8), AX
	VPAND   (AX)(DX*1), Y0, Y0
	DECQ    CX
	JNE     row4
	VMOVDQU Y0, (R9)
	ADDQ    $32, DX
	ADDQ    $32, R9
	SUBQ    $4, BX

ones:
	ADDQ $4, BX
	JEQ  last

one:
	MOVQ K, CX
	MOVQ $-1, AX

row1:
	MOVQ -8(SI)(CX*8), DI
	ANDQ (DI)(DX*1), AX
	DECQ CX
	JNE  row1
	MOVQ AX, (R9)
	ADDQ $8, DX
	ADDQ $8, R9
	DECQ BX
	JNE  one

last:
	MOVQ LAST, AX
	ANDQ AX, -8(R9)

place:
	TESTQ R12, R12
	JEQ   advance
	DECQ  R12
	MOVQ  (R10), DX
	ADDQ  $8, R10

	// The group to Y3.
	MULXQ        LINES, AX, CX
	IMULQ        GROUP, CX
	ADDQ         FIRST, CX
	VMOVQ        CX, X3
	VPBROADCASTQ X3, Y3

	LEAQ  (R13)(R14*1), SI
	MOVQ  K, CX
	SUBQ  $8, CX
	JGT   second
	MOVQ  C1, BX
	IMULQ DX, BX
	LANES
	WRITE(0(SI))
	WRITE(64(SI))
	LEAQ  (SI)(BX*8), AX
	MOVQ  AX, 192(SI)

prefetch:
	CMPQ AHEAD, $0
	JNE  ahead

advance:
	ADDQ    $SLOT, R14
	XORL    AX, AX
	CMPQ    R14, WRAP
	CMOVQEQ AX, R14
	INCQ    R11
	CMPQ    R11, n+16(FP)
	JLT     next

	VZEROUPPER
	RET

single:
	MOVQ K, CX
	MOVQ LAST, BX

rowSingle:
	MOVQ -8(SI)(CX*8), AX
	ANDQ (AX), BX
	DECQ CX
	JNE  rowSingle
	MOVQ BX, (R9)
	ADDQ $8, R9
	JMP  place

second:
	// The lanes of the second round twice, and over those before the ones that count, all of the first.
	MOVQ  C2, BX
	IMULQ DX, BX
	LANES
	WRITE(0(SI))
	WRITE(64(SI))
	LEAQ  (SI)(BX*8), AX
	MOVQ  AX, 192(SI)
	LEAQ  (AX)(CX*8), CX
	MOVQ  C1, BX
	IMULQ DX, BX
	LANES
	WRITE(0(CX))
	JMP   prefetch

ahead:
	MOVQ K, CX
	MOVQ 192(SI), SI

aheadRow:
	MOVQ -8(SI)(CX*8), AX
	XORL DX, DX

aheadLine:
	PREFETCHT1 (AX)(DX*1)
	ADDQ       $64, DX
	CMPQ       DX, AHEAD
	JLT        aheadLine
	DECQ       CX
	JNE        aheadRow
	JMP        advance
