// The inner loops of products with dense rows: see loops_amd64.go.

#include "registers_amd64.h"

// Four values of a row into a register.
#define LOAD64(at, to) VMOVUPD (at*8)(SI), to

#define LOAD32(at, to) VCVTPS2PD (at*4)(SI), to

// Four of a row's values times p, added to a sum.
#define ADDFOUR(LOAD, at, product, sum) \
	LOAD(at, product)                   \
	VMULPD (at*8)(DI), product, product \
	VADDPD product, sum, sum

#define DOT(LOAD, bytes) \
	MOVQ   n+0(FP), CX       \
	MOVQ   x+8(FP), SI       \
	MOVQ   p+16(FP), DI      \
	MOVQ   sums+24(FP), DX   \
	ZERO(Y0, Y1, Y2, Y3)     \
loop:                        \
	ADDFOUR(LOAD, 0, Y4, Y0)  \
	ADDFOUR(LOAD, 4, Y5, Y1)  \
	ADDFOUR(LOAD, 8, Y6, Y2)  \
	ADDFOUR(LOAD, 12, Y7, Y3) \
	ADDQ   $(16*bytes), SI   \
	ADDQ   $128, DI          \
	SUBQ   $16, CX           \
	JNZ    loop              \
	VADDPD Y1, Y0, Y0        \
	VADDPD Y3, Y2, Y2        \
	VADDPD Y2, Y0, Y0        \
	VMOVUPD Y0, (DX)         \
	VZEROUPPER               \
	RET

#define AXPY(LOAD, bytes) \
	MOVQ   n+0(FP), CX       \
	MOVQ   x+8(FP), SI       \
	MOVQ   dst+16(FP), DI    \
	VBROADCASTSD scale+24(FP), Y0 \
loop:                        \
	LOAD(0, Y4)              \
	LOAD(4, Y5)              \
	VMULPD Y4, Y0, Y4        \
	VMULPD Y5, Y0, Y5        \
	VADDPD (DI), Y4, Y4      \
	VADDPD 32(DI), Y5, Y5    \
	VMOVUPD Y4, (DI)         \
	VMOVUPD Y5, 32(DI)       \
	ADDQ   $(8*bytes), SI    \
	ADDQ   $64, DI           \
	SUBQ   $8, CX            \
	JNZ    loop              \
	VZEROUPPER               \
	RET

// ROWS puts the arguments of products with eight rows into registers: n features in CX, the panel in BX, the sums or
// scales in DX, and in Y0 to Y7. SI counts features.
#define ROWS(numbers) \
	MOVQ    n+0(FP), CX       \
	MOVQ    rows+16(FP), AX   \
	MOVQ    panel+24(FP), BX  \
	MOVQ    numbers+32(FP), DX \
	READ8(DX)            \
	MOVQ    (AX), R8     \
	MOVQ    8(AX), R9    \
	MOVQ    16(AX), R10  \
	MOVQ    24(AX), R11  \
	MOVQ    32(AX), R12  \
	MOVQ    40(AX), R13  \
	MOVQ    48(AX), DI   \
	MOVQ    56(AX), AX   \
	XORQ    SI, SI

// A macro for each of the rows.
#define EIGHT(OP) \
	OP(R8, Y0); OP(R9, Y1); OP(R10, Y2); OP(R11, Y3); OP(R12, Y4); OP(R13, Y5); OP(DI, Y6); OP(AX, Y7)

#define NEXT \
	ADDQ step+8(FP), BX \
	INCQ SI             \
	CMPQ SI, CX         \
	JNE  loop

// A row's value times the panel's weights in Y8, added to sums with one rounding; or times scales, added to the weights.
#define ADDTO(row, sum) VBROADCASTSD (row)(SI*8), Y9; VFMADD231PD Y8, Y9, sum
#define SCALED(row, scale) VBROADCASTSD (row)(SI*8), Y9; VMULPD scale, Y9, Y9; VADDPD Y9, Y8, Y8

TEXT ·dotRows64(SB), NOSPLIT, $0-40
	ROWS(sums)

loop:
	VMOVUPD (BX), Y8
	EIGHT(ADDTO)
	NEXT
	WRITE8(DX)
	VZEROUPPER
	RET

TEXT ·axpyRows64(SB), NOSPLIT, $0-40
	ROWS(scales)

loop:
	VMOVUPD (BX), Y8
	EIGHT(SCALED)
	VMOVUPD Y8, (BX)
	NEXT
	VZEROUPPER
	RET

TEXT ·denseDot64(SB), NOSPLIT, $0-32
	DOT(LOAD64, 8)

TEXT ·denseDot32(SB), NOSPLIT, $0-32
	DOT(LOAD32, 4)

TEXT ·denseAxpy64(SB), NOSPLIT, $0-32
	AXPY(LOAD64, 8)

TEXT ·denseAxpy32(SB), NOSPLIT, $0-32
	AXPY(LOAD32, 4)
