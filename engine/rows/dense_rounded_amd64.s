// The inner loops of rounded products: see dense_rounded.go.

#include "registers_amd64.h"

// BEGIN puts the arguments of products with four rows into registers: n features in CX, the rows in R8 to R11, the panel
// in BX, the sums or scales in DX and in Y0 to Y11, three registers a row. What is read next lies R12 bytes ahead.
#define BEGIN \
	MOVQ n+0(FP), CX; \
	MOVQ ahead+8(FP), R12; \
	MOVQ rows+16(FP), AX; \
	MOVQ panel+24(FP), BX; \
	MOVQ numbers+32(FP), DX; \
	READ8(DX); \
	READ(DX, 256, Y8, Y9, Y10, Y11); \
	MOVQ (AX), R8; \
	MOVQ 8(AX), R9; \
	MOVQ 16(AX), R10; \
	MOVQ 24(AX), R11

// TURN begins a turn of R13 features, at most 16: a cache line of each row.
#define TURN \
turn: \
	MOVQ $16, R13; \
	CMPQ CX, R13; \
	CMOVQLT CX, R13; \
	SUBQ R13, CX; \
	PREFETCHT0 (R8)(R12*1); \
	PREFETCHT0 (R9)(R12*1); \
	PREFETCHT0 (R10)(R12*1); \
	PREFETCHT0 (R11)(R12*1); \
loop:

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

// PANEL reads the weights of a feature, BACK writes them.
#define PANEL8 VMOVUPS (BX), Y12
#define PANEL16 PANEL8; VMOVUPS 32(BX), Y13
#define PANEL24 PANEL16; VMOVUPS 64(BX), Y14
#define BACK8 VMOVUPS Y12, (BX)
#define BACK16 BACK8; VMOVUPS Y13, 32(BX)
#define BACK24 BACK16; VMOVUPS Y14, 64(BX)

// DOT adds a number of a row times the panel, in Y12 to Y14, to sums; AXPY adds it times scales to the panel.
#define DOT8(row, a, b, c) VBROADCASTSS (row), Y15; VFMADD231PS Y12, Y15, a
#define DOT16(row, a, b, c) DOT8(row, a, b, c); VFMADD231PS Y13, Y15, b
#define DOT24(row, a, b, c) DOT16(row, a, b, c); VFMADD231PS Y14, Y15, c
#define AXPY8(row, a, b, c) VBROADCASTSS (row), Y15; VFMADD231PS a, Y15, Y12
#define AXPY16(row, a, b, c) AXPY8(row, a, b, c); VFMADD231PS b, Y15, Y13
#define AXPY24(row, a, b, c) AXPY16(row, a, b, c); VFMADD231PS c, Y15, Y14

#define FOUR(OP) \
	OP(R8, Y0, Y1, Y2); OP(R9, Y3, Y4, Y5); OP(R10, Y6, Y7, Y8); OP(R11, Y9, Y10, Y11)

#define PRODUCT(PANEL, OP, BACK, bytes, END) \
	BEGIN; \
	TURN \
	PANEL; \
	FOUR(OP); \
	BACK; \
	NEXT(bytes); \
	END; \
	VZEROUPPER; \
	RET

#define SUMS WRITE8(DX); WRITE(DX, 256, Y8, Y9, Y10, Y11)

TEXT ·dotRounded8(SB), NOSPLIT, $0-40
	PRODUCT(PANEL8, DOT8, NONE, 32, SUMS)

TEXT ·dotRounded16(SB), NOSPLIT, $0-40
	PRODUCT(PANEL16, DOT16, NONE, 64, SUMS)

TEXT ·dotRounded24(SB), NOSPLIT, $0-40
	PRODUCT(PANEL24, DOT24, NONE, 96, SUMS)

TEXT ·axpyRounded8(SB), NOSPLIT, $0-40
	PRODUCT(PANEL8, AXPY8, BACK8, 32, NONE)

TEXT ·axpyRounded16(SB), NOSPLIT, $0-40
	PRODUCT(PANEL16, AXPY16, BACK16, 64, NONE)

TEXT ·axpyRounded24(SB), NOSPLIT, $0-40
	PRODUCT(PANEL24, AXPY24, BACK24, 96, NONE)
