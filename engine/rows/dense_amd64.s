// The inner loops of products with dense rows: see loops_amd64.go.

#include "registers_amd64.h"

// Four values of a row into a register.
#define LOAD64(at, to) VMOVUPD (at*8)(SI), to

#define LOAD32(at, to) VCVTPS2PD (at*4)(SI), to

#define DOT(LOAD, bytes) \
	MOVQ   n+0(FP), CX       \
	MOVQ   x+8(FP), SI       \
	MOVQ   p+16(FP), DI      \
	MOVQ   sums+24(FP), DX   \
	ZERO(Y0, Y1, Y2, Y3)     \
loop:                        \
	LOAD(0, Y4)              \
	LOAD(4, Y5)              \
	LOAD(8, Y6)              \
	LOAD(12, Y7)             \
	VMULPD (DI), Y4, Y4      \
	VMULPD 32(DI), Y5, Y5    \
	VMULPD 64(DI), Y6, Y6    \
	VMULPD 96(DI), Y7, Y7    \
	VADDPD Y4, Y0, Y0        \
	VADDPD Y5, Y1, Y1        \
	VADDPD Y6, Y2, Y2        \
	VADDPD Y7, Y3, Y3        \
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
	MOVQ   scale+24(FP), DX  \
	VBROADCASTSD (DX), Y0    \
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

// SI counts features, which have stride bytes in the panel.
#define NEXT \
	ADDQ stride+8(FP), BX \
	INCQ SI         \
	CMPQ SI, CX     \
	JNE  loop

// A row's value times the panel's weights in Y8 and Y9, added to sums with one rounding.
#define ADDTO8(row, low, high) \
	VBROADCASTSD (row)(SI*8), Y10 \
	VFMADD231PD  Y8, Y10, low     \
	VFMADD231PD  Y9, Y10, high

#define ADDTO4(row, sum) \
	VBROADCASTSD (row)(SI*8), Y10 \
	VFMADD231PD  Y8, Y10, sum

#define SCALED8(row, low, high) \
	VBROADCASTSD (row)(SI*8), Y10 \
	VMULPD       low, Y10, Y11    \
	VMULPD       high, Y10, Y12   \
	VADDPD       Y11, Y8, Y8      \
	VADDPD       Y12, Y9, Y9

#define SCALED4(row, scale) \
	VBROADCASTSD (row)(SI*8), Y10 \
	VMULPD       scale, Y10, Y11  \
	VADDPD       Y11, Y8, Y8

TEXT ·denseDot64(SB), NOSPLIT, $0-32
	DOT(LOAD64, 8)

TEXT ·denseDot32(SB), NOSPLIT, $0-32
	DOT(LOAD32, 4)

TEXT ·denseAxpy64(SB), NOSPLIT, $0-32
	AXPY(LOAD64, 8)

TEXT ·denseAxpy32(SB), NOSPLIT, $0-32
	AXPY(LOAD32, 4)

TEXT ·dotRows8(SB), NOSPLIT, $0-40
	ROWS(sums)
	READ8(DX)
	XORQ    SI, SI

loop:
	VMOVUPD (BX), Y8
	VMOVUPD 32(BX), Y9
	ROWS2(ADDTO8)
	NEXT
	WRITE8(DX)
	VZEROUPPER
	RET

TEXT ·dotRows4(SB), NOSPLIT, $0-48
	MOVQ    next+40(FP), R12
	ROWS(sums)
	READ(DX, 0, Y0, Y1, Y2, Y3)
	READ(R12, 0, Y4, Y5, Y6, Y7)
	MOVQ    32(AX), R12
	MOVQ    40(AX), R13
	MOVQ    48(AX), DI
	MOVQ    56(AX), AX
	XORQ    SI, SI

loop:
	VMOVUPD (BX), Y8
	ROWS1(ADDTO4)
	ADDTO4(R12, Y4)
	ADDTO4(R13, Y5)
	ADDTO4(DI, Y6)
	ADDTO4(AX, Y7)
	NEXT
	MOVQ    next+40(FP), R12
	WRITE(DX, 0, Y0, Y1, Y2, Y3)
	WRITE(R12, 0, Y4, Y5, Y6, Y7)
	VZEROUPPER
	RET

TEXT ·axpyRows8(SB), NOSPLIT, $0-40
	ROWS(scales)
	READ8(DX)
	XORQ    SI, SI

loop:
	VMOVUPD (BX), Y8
	VMOVUPD 32(BX), Y9
	ROWS2(SCALED8)
	VMOVUPD Y8, (BX)
	VMOVUPD Y9, 32(BX)
	NEXT
	VZEROUPPER
	RET

TEXT ·axpyRows4(SB), NOSPLIT, $0-40
	ROWS(scales)
	READ(DX, 0, Y0, Y1, Y2, Y3)
	XORQ    SI, SI

loop:
	VMOVUPD (BX), Y8
	ROWS1(SCALED4)
	VMOVUPD Y8, (BX)
	NEXT
	VZEROUPPER
	RET
