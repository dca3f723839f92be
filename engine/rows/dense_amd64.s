// The inner loops of products with dense rows: see dense_amd64.go.

#include "textflag.h"

// Four values of a row into a register.
#define LOAD64(at, to) VMOVUPD (at*8)(SI), to

#define LOAD32(at, to) VCVTPS2PD (at*4)(SI), to

#define DOT(LOAD, bytes) \
	MOVQ   n+0(FP), CX       \
	MOVQ   x+8(FP), SI       \
	MOVQ   p+16(FP), DI      \
	MOVQ   sums+24(FP), DX   \
	VXORPD Y0, Y0, Y0        \
	VXORPD Y1, Y1, Y1        \
	VXORPD Y2, Y2, Y2        \
	VXORPD Y3, Y3, Y3        \
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

// The arguments: n features in CX, four rows in R8 to R11, the panel in BX, the sums or scales in DX; SI counts, and a
// feature has stride bytes.
#define ROWS(last) \
	MOVQ n+0(FP), CX      \
	MOVQ rows+16(FP), AX  \
	MOVQ panel+24(FP), BX \
	MOVQ last+32(FP), DX  \
	MOVQ (AX), R8         \
	MOVQ 8(AX), R9        \
	MOVQ 16(AX), R10      \
	MOVQ 24(AX), R11      \
	XORQ SI, SI

#define NEXT \
	ADDQ stride+8(FP), BX \
	INCQ SI         \
	CMPQ SI, CX     \
	JNE  loop

// A row's value times the panel's weights in Y8 and Y9 (Z8 and Z9), added to sums with one rounding.
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

// func denseDot64(n int, x, p, sums unsafe.Pointer)
TEXT ·denseDot64(SB), NOSPLIT, $0-32
	DOT(LOAD64, 8)

// func denseDot32(n int, x, p, sums unsafe.Pointer)
TEXT ·denseDot32(SB), NOSPLIT, $0-32
	DOT(LOAD32, 4)

// func denseAxpy64(n int, x, dst, scale unsafe.Pointer)
TEXT ·denseAxpy64(SB), NOSPLIT, $0-32
	AXPY(LOAD64, 8)

// func denseAxpy32(n int, x, dst, scale unsafe.Pointer)
TEXT ·denseAxpy32(SB), NOSPLIT, $0-32
	AXPY(LOAD32, 4)

// func widenLoop(n int, from, to unsafe.Pointer)
TEXT ·widenLoop(SB), NOSPLIT, $0-24
	MOVQ n+0(FP), CX
	MOVQ from+8(FP), SI
	MOVQ to+16(FP), DI

loop:
	PREFETCHT0 1024(SI) // the next rows: the processor's own prefetching ends with a page
	VCVTPS2PD  (SI), Y0
	VCVTPS2PD  16(SI), Y1
	VMOVUPD    Y0, (DI)
	VMOVUPD    Y1, 32(DI)
	ADDQ       $32, SI
	ADDQ       $64, DI
	SUBQ       $8, CX
	JNZ        loop
	VZEROUPPER
	RET

// func dotRows8(n, stride int, rows *[4]unsafe.Pointer, panel, sums unsafe.Pointer)
TEXT ·dotRows8(SB), NOSPLIT, $0-40
	ROWS(sums)
	VMOVUPD (DX), Y0
	VMOVUPD 32(DX), Y1
	VMOVUPD 64(DX), Y2
	VMOVUPD 96(DX), Y3
	VMOVUPD 128(DX), Y4
	VMOVUPD 160(DX), Y5
	VMOVUPD 192(DX), Y6
	VMOVUPD 224(DX), Y7

loop:
	VMOVUPD (BX), Y8
	VMOVUPD 32(BX), Y9
	ADDTO8(R8, Y0, Y1)
	ADDTO8(R9, Y2, Y3)
	ADDTO8(R10, Y4, Y5)
	ADDTO8(R11, Y6, Y7)
	NEXT
	VMOVUPD Y0, (DX)
	VMOVUPD Y1, 32(DX)
	VMOVUPD Y2, 64(DX)
	VMOVUPD Y3, 96(DX)
	VMOVUPD Y4, 128(DX)
	VMOVUPD Y5, 160(DX)
	VMOVUPD Y6, 192(DX)
	VMOVUPD Y7, 224(DX)
	VZEROUPPER
	RET

// func dotRows4(n, stride int, rows *[8]unsafe.Pointer, panel, sums, next unsafe.Pointer)
TEXT ·dotRows4(SB), NOSPLIT, $0-48
	MOVQ    next+40(FP), R12
	ROWS(sums)
	VMOVUPD (DX), Y0
	VMOVUPD 32(DX), Y1
	VMOVUPD 64(DX), Y2
	VMOVUPD 96(DX), Y3
	VMOVUPD (R12), Y4
	VMOVUPD 32(R12), Y5
	VMOVUPD 64(R12), Y6
	VMOVUPD 96(R12), Y7
	MOVQ    32(AX), R12
	MOVQ    40(AX), R13
	MOVQ    48(AX), DI
	MOVQ    56(AX), AX

loop:
	VMOVUPD (BX), Y8
	ADDTO4(R8, Y0)
	ADDTO4(R9, Y1)
	ADDTO4(R10, Y2)
	ADDTO4(R11, Y3)
	ADDTO4(R12, Y4)
	ADDTO4(R13, Y5)
	ADDTO4(DI, Y6)
	ADDTO4(AX, Y7)
	NEXT
	MOVQ    next+40(FP), R12
	VMOVUPD Y0, (DX)
	VMOVUPD Y1, 32(DX)
	VMOVUPD Y2, 64(DX)
	VMOVUPD Y3, 96(DX)
	VMOVUPD Y4, (R12)
	VMOVUPD Y5, 32(R12)
	VMOVUPD Y6, 64(R12)
	VMOVUPD Y7, 96(R12)
	VZEROUPPER
	RET

// func axpyRows8(n, stride int, rows *[4]unsafe.Pointer, panel, scales unsafe.Pointer)
TEXT ·axpyRows8(SB), NOSPLIT, $0-40
	ROWS(scales)
	VMOVUPD (DX), Y0
	VMOVUPD 32(DX), Y1
	VMOVUPD 64(DX), Y2
	VMOVUPD 96(DX), Y3
	VMOVUPD 128(DX), Y4
	VMOVUPD 160(DX), Y5
	VMOVUPD 192(DX), Y6
	VMOVUPD 224(DX), Y7

loop:
	VMOVUPD (BX), Y8
	VMOVUPD 32(BX), Y9
	SCALED8(R8, Y0, Y1)
	SCALED8(R9, Y2, Y3)
	SCALED8(R10, Y4, Y5)
	SCALED8(R11, Y6, Y7)
	VMOVUPD Y8, (BX)
	VMOVUPD Y9, 32(BX)
	NEXT
	VZEROUPPER
	RET

// func axpyRows4(n, stride int, rows *[4]unsafe.Pointer, panel, scales unsafe.Pointer)
TEXT ·axpyRows4(SB), NOSPLIT, $0-40
	ROWS(scales)
	VMOVUPD (DX), Y0
	VMOVUPD 32(DX), Y1
	VMOVUPD 64(DX), Y2
	VMOVUPD 96(DX), Y3

loop:
	VMOVUPD (BX), Y8
	SCALED4(R8, Y0)
	SCALED4(R9, Y1)
	SCALED4(R10, Y2)
	SCALED4(R11, Y3)
	VMOVUPD Y8, (BX)
	NEXT
	VZEROUPPER
	RET
