// The inner loops of rounded products: see dense_rounded.go.

#include "registers_amd64.h"

// LOAD is ROWS; what will be read next lies R12 bytes ahead.
#define LOAD ROWS(numbers); MOVQ ahead+8(FP), R12

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

#define END VZEROUPPER; RET

// PANEL reads the weights of a feature, BACK writes them.
#define PANEL8 VMOVUPS (BX), Y12
#define PANEL16 PANEL8; VMOVUPS 32(BX), Y13
#define PANEL24 PANEL16; VMOVUPS 64(BX), Y14
#define BACK8 VMOVUPS Y12, (BX)
#define BACK16 BACK8; VMOVUPS Y13, 32(BX)
#define BACK24 BACK16; VMOVUPS Y14, 64(BX)

// DOT adds a number of a row times the panel, in Y12 to Y14, to sums; AXPY adds it times scales to the panel.
#define DOT8(row, a) VBROADCASTSS (row), Y15; VFMADD231PS Y12, Y15, a
#define DOT16(row, a, b) DOT8(row, a); VFMADD231PS Y13, Y15, b
#define DOT24(row, a, b, c) DOT16(row, a, b); VFMADD231PS Y14, Y15, c
#define AXPY8(row, a) VBROADCASTSS (row), Y15; VFMADD231PS a, Y15, Y12
#define AXPY16(row, a, b) AXPY8(row, a); VFMADD231PS b, Y15, Y13
#define AXPY24(row, a, b, c) AXPY16(row, a, b); VFMADD231PS c, Y15, Y14

TEXT ·dotRounded8(SB), NOSPLIT, $0-40
	LOAD
	ZERO(Y0, Y1, Y2, Y3)
	TURN
	PANEL8
	ROWS1(DOT8)
	NEXT(32)
	WRITE(DX, 0, Y0, Y1, Y2, Y3)
	END

TEXT ·axpyRounded8(SB), NOSPLIT, $0-40
	LOAD
	READ(DX, 0, Y0, Y1, Y2, Y3)
	TURN
	PANEL8
	ROWS1(AXPY8)
	BACK8
	NEXT(32)
	END

TEXT ·dotRounded16(SB), NOSPLIT, $0-40
	LOAD
	ZERO8
	TURN
	PANEL16
	ROWS2(DOT16)
	NEXT(64)
	WRITE8(DX)
	END

TEXT ·axpyRounded16(SB), NOSPLIT, $0-40
	LOAD
	READ8(DX)
	TURN
	PANEL16
	ROWS2(AXPY16)
	BACK16
	NEXT(64)
	END

TEXT ·dotRounded24(SB), NOSPLIT, $0-40
	LOAD
	ZERO8
	ZERO(Y8, Y9, Y10, Y11)
	TURN
	PANEL24
	ROWS3(DOT24)
	NEXT(96)
	WRITE8(DX)
	WRITE(DX, 256, Y8, Y9, Y10, Y11)
	END

TEXT ·axpyRounded24(SB), NOSPLIT, $0-40
	LOAD
	READ8(DX)
	READ(DX, 256, Y8, Y9, Y10, Y11)
	TURN
	PANEL24
	ROWS3(AXPY24)
	BACK24
	NEXT(96)
	END
