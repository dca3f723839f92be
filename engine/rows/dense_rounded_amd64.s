// The inner loops of rounded products: see dense_rounded.go.

#include "registers_amd64.h"

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
	DOT8(R8, Y0)
	DOT8(R9, Y1)
	DOT8(R10, Y2)
	DOT8(R11, Y3)
	NEXT(32)
	WRITE(DX, 0, Y0, Y1, Y2, Y3)
	END

TEXT ·axpyRounded8(SB), NOSPLIT, $0-40
	LOAD
	READ(DX, 0, Y0, Y1, Y2, Y3)
	TURN
	PANEL8
	AXPY8(R8, Y0)
	AXPY8(R9, Y1)
	AXPY8(R10, Y2)
	AXPY8(R11, Y3)
	BACK8
	NEXT(32)
	END

TEXT ·dotRounded16(SB), NOSPLIT, $0-40
	LOAD
	ZERO(Y0, Y1, Y2, Y3)
	ZERO(Y4, Y5, Y6, Y7)
	TURN
	PANEL16
	DOT16(R8, Y0, Y1)
	DOT16(R9, Y2, Y3)
	DOT16(R10, Y4, Y5)
	DOT16(R11, Y6, Y7)
	NEXT(64)
	WRITE(DX, 0, Y0, Y1, Y2, Y3)
	WRITE(DX, 128, Y4, Y5, Y6, Y7)
	END

TEXT ·axpyRounded16(SB), NOSPLIT, $0-40
	LOAD
	READ(DX, 0, Y0, Y1, Y2, Y3)
	READ(DX, 128, Y4, Y5, Y6, Y7)
	TURN
	PANEL16
	AXPY16(R8, Y0, Y1)
	AXPY16(R9, Y2, Y3)
	AXPY16(R10, Y4, Y5)
	AXPY16(R11, Y6, Y7)
	BACK16
	NEXT(64)
	END

TEXT ·dotRounded24(SB), NOSPLIT, $0-40
	LOAD
	ZERO(Y0, Y1, Y2, Y3)
	ZERO(Y4, Y5, Y6, Y7)
	ZERO(Y8, Y9, Y10, Y11)
	TURN
	PANEL24
	DOT24(R8, Y0, Y1, Y2)
	DOT24(R9, Y3, Y4, Y5)
	DOT24(R10, Y6, Y7, Y8)
	DOT24(R11, Y9, Y10, Y11)
	NEXT(96)
	WRITE(DX, 0, Y0, Y1, Y2, Y3)
	WRITE(DX, 128, Y4, Y5, Y6, Y7)
	WRITE(DX, 256, Y8, Y9, Y10, Y11)
	END

TEXT ·axpyRounded24(SB), NOSPLIT, $0-40
	LOAD
	READ(DX, 0, Y0, Y1, Y2, Y3)
	READ(DX, 128, Y4, Y5, Y6, Y7)
	READ(DX, 256, Y8, Y9, Y10, Y11)
	TURN
	PANEL24
	AXPY24(R8, Y0, Y1, Y2)
	AXPY24(R9, Y3, Y4, Y5)
	AXPY24(R10, Y6, Y7, Y8)
	AXPY24(R11, Y9, Y10, Y11)
	BACK24
	NEXT(96)
	END
