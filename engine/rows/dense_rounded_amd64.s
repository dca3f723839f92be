// The inner loops of rounded products: see dense_rounded.go.

#include "textflag.h"

// LOAD puts n features into CX, four rows into R8 to R11, the panel into BX and the sums or scales into DX; what will
// be read next lies R12 bytes ahead.
#define LOAD \
	MOVQ n+0(FP), CX; \
	MOVQ ahead+8(FP), R12; \
	MOVQ rows+16(FP), AX; \
	MOVQ panel+24(FP), BX; \
	MOVQ numbers+32(FP), DX; \
	MOVQ (AX), R8; \
	MOVQ 8(AX), R9; \
	MOVQ 16(AX), R10; \
	MOVQ 24(AX), R11

// TURN begins a turn of R13 features, at most 16: a cache line of each row.
#define TURN \
	MOVQ $16, R13; \
	CMPQ CX, R13; \
	CMOVQLT CX, R13; \
	SUBQ R13, CX; \
	PREFETCHT0 (R8)(R12*1); \
	PREFETCHT0 (R9)(R12*1); \
	PREFETCHT0 (R10)(R12*1); \
	PREFETCHT0 (R11)(R12*1)

// NEXT goes on to the next feature, bytes further in the panel.
#define NEXT(bytes) \
	ADDQ $bytes, BX; \
	ADDQ $4, R8; \
	ADDQ $4, R9; \
	ADDQ $4, R10; \
	ADDQ $4, R11; \
	DECQ R13; \
	JNZ loop; \
	TESTQ CX, CX; \
	JNZ turn

// ZERO, READ and WRITE are of the registers of some columns, from a place on.
#define ZERO(a, b, c, d) \
	VXORPS a, a, a; \
	VXORPS b, b, b; \
	VXORPS c, c, c; \
	VXORPS d, d, d

#define READ(at, a, b, c, d) \
	VMOVUPS (at)(DX), a; \
	VMOVUPS (at+32)(DX), b; \
	VMOVUPS (at+64)(DX), c; \
	VMOVUPS (at+96)(DX), d

#define WRITE(at, a, b, c, d) \
	VMOVUPS a, (at)(DX); \
	VMOVUPS b, (at+32)(DX); \
	VMOVUPS c, (at+64)(DX); \
	VMOVUPS d, (at+96)(DX)

// DOT adds a number of a row times the panel, in Y12 to Y14, to sums; AXPY adds it times scales to the panel.
#define DOT8(row, a) VBROADCASTSS (row), Y15; VFMADD231PS Y12, Y15, a
#define DOT16(row, a, b) DOT8(row, a); VFMADD231PS Y13, Y15, b
#define DOT24(row, a, b, c) DOT16(row, a, b); VFMADD231PS Y14, Y15, c
#define AXPY8(row, a) VBROADCASTSS (row), Y15; VFMADD231PS a, Y15, Y12
#define AXPY16(row, a, b) AXPY8(row, a); VFMADD231PS b, Y15, Y13
#define AXPY24(row, a, b, c) AXPY16(row, a, b); VFMADD231PS c, Y15, Y14

// func dotRounded8(n, ahead int, rows *[4]unsafe.Pointer, panel, numbers unsafe.Pointer)
TEXT ·dotRounded8(SB), NOSPLIT, $0-40
	LOAD
	ZERO(Y0, Y1, Y2, Y3)

turn:
	TURN

loop:
	VMOVUPS 0(BX), Y12
	DOT8(R8, Y0)
	DOT8(R9, Y1)
	DOT8(R10, Y2)
	DOT8(R11, Y3)
	NEXT(32)
	WRITE(0, Y0, Y1, Y2, Y3)
	VZEROUPPER
	RET

// func axpyRounded8(n, ahead int, rows *[4]unsafe.Pointer, panel, numbers unsafe.Pointer)
TEXT ·axpyRounded8(SB), NOSPLIT, $0-40
	LOAD
	READ(0, Y0, Y1, Y2, Y3)

turn:
	TURN

loop:
	VMOVUPS 0(BX), Y12
	AXPY8(R8, Y0)
	AXPY8(R9, Y1)
	AXPY8(R10, Y2)
	AXPY8(R11, Y3)
	VMOVUPS Y12, 0(BX)
	NEXT(32)
	VZEROUPPER
	RET

// func dotRounded16(n, ahead int, rows *[4]unsafe.Pointer, panel, numbers unsafe.Pointer)
TEXT ·dotRounded16(SB), NOSPLIT, $0-40
	LOAD
	ZERO(Y0, Y1, Y2, Y3)
	ZERO(Y4, Y5, Y6, Y7)

turn:
	TURN

loop:
	VMOVUPS 0(BX), Y12
	VMOVUPS 32(BX), Y13
	DOT16(R8, Y0, Y1)
	DOT16(R9, Y2, Y3)
	DOT16(R10, Y4, Y5)
	DOT16(R11, Y6, Y7)
	NEXT(64)
	WRITE(0, Y0, Y1, Y2, Y3)
	WRITE(128, Y4, Y5, Y6, Y7)
	VZEROUPPER
	RET

// func axpyRounded16(n, ahead int, rows *[4]unsafe.Pointer, panel, numbers unsafe.Pointer)
TEXT ·axpyRounded16(SB), NOSPLIT, $0-40
	LOAD
	READ(0, Y0, Y1, Y2, Y3)
	READ(128, Y4, Y5, Y6, Y7)

turn:
	TURN

loop:
	VMOVUPS 0(BX), Y12
	VMOVUPS 32(BX), Y13
	AXPY16(R8, Y0, Y1)
	AXPY16(R9, Y2, Y3)
	AXPY16(R10, Y4, Y5)
	AXPY16(R11, Y6, Y7)
	VMOVUPS Y12, 0(BX)
	VMOVUPS Y13, 32(BX)
	NEXT(64)
	VZEROUPPER
	RET

// func dotRounded24(n, ahead int, rows *[4]unsafe.Pointer, panel, numbers unsafe.Pointer)
TEXT ·dotRounded24(SB), NOSPLIT, $0-40
	LOAD
	ZERO(Y0, Y1, Y2, Y3)
	ZERO(Y4, Y5, Y6, Y7)
	ZERO(Y8, Y9, Y10, Y11)

turn:
	TURN

loop:
	VMOVUPS 0(BX), Y12
	VMOVUPS 32(BX), Y13
	VMOVUPS 64(BX), Y14
	DOT24(R8, Y0, Y1, Y2)
	DOT24(R9, Y3, Y4, Y5)
	DOT24(R10, Y6, Y7, Y8)
	DOT24(R11, Y9, Y10, Y11)
	NEXT(96)
	WRITE(0, Y0, Y1, Y2, Y3)
	WRITE(128, Y4, Y5, Y6, Y7)
	WRITE(256, Y8, Y9, Y10, Y11)
	VZEROUPPER
	RET

// func axpyRounded24(n, ahead int, rows *[4]unsafe.Pointer, panel, numbers unsafe.Pointer)
TEXT ·axpyRounded24(SB), NOSPLIT, $0-40
	LOAD
	READ(0, Y0, Y1, Y2, Y3)
	READ(128, Y4, Y5, Y6, Y7)
	READ(256, Y8, Y9, Y10, Y11)

turn:
	TURN

loop:
	VMOVUPS 0(BX), Y12
	VMOVUPS 32(BX), Y13
	VMOVUPS 64(BX), Y14
	AXPY24(R8, Y0, Y1, Y2)
	AXPY24(R9, Y3, Y4, Y5)
	AXPY24(R10, Y6, Y7, Y8)
	AXPY24(R11, Y9, Y10, Y11)
	VMOVUPS Y12, 0(BX)
	VMOVUPS Y13, 32(BX)
	VMOVUPS Y14, 64(BX)
	NEXT(96)
	VZEROUPPER
	RET
