#include "textflag.h"

// ZERO, READ and WRITE are of four registers, whose numbers lie side by side from a place on.
#define ZERO(a, b, c, d) VXORPS a, a, a; VXORPS b, b, b; VXORPS c, c, c; VXORPS d, d, d

#define READ(base, at, a, b, c, d) \
	VMOVUPS (at)(base), a; \
	VMOVUPS (at+32)(base), b; \
	VMOVUPS (at+64)(base), c; \
	VMOVUPS (at+96)(base), d

#define WRITE(base, at, a, b, c, d) \
	VMOVUPS a, (at)(base); \
	VMOVUPS b, (at+32)(base); \
	VMOVUPS c, (at+64)(base); \
	VMOVUPS d, (at+96)(base)

// The same of eight registers, Y0 to Y7.
#define ZERO8 ZERO(Y0, Y1, Y2, Y3); ZERO(Y4, Y5, Y6, Y7)
#define READ8(base) READ(base, 0, Y0, Y1, Y2, Y3); READ(base, 128, Y4, Y5, Y6, Y7)
#define WRITE8(base) WRITE(base, 0, Y0, Y1, Y2, Y3); WRITE(base, 128, Y4, Y5, Y6, Y7)

// ROWS puts the arguments of products with four rows into registers: n features in CX, the rows in R8 to R11, the panel
// in BX, the sums or scales in DX.
#define ROWS(last) \
	MOVQ n+0(FP), CX; \
	MOVQ rows+16(FP), AX; \
	MOVQ panel+24(FP), BX; \
	MOVQ last+32(FP), DX; \
	MOVQ (AX), R8; \
	MOVQ 8(AX), R9; \
	MOVQ 16(AX), R10; \
	MOVQ 24(AX), R11

// A macro for each of the four rows in R8 to R11, with one to three registers of sums or scales for each, from Y0 on.
#define ROWS1(OP) \
	OP(R8, Y0); OP(R9, Y1); OP(R10, Y2); OP(R11, Y3)

#define ROWS2(OP) \
	OP(R8, Y0, Y1); OP(R9, Y2, Y3); OP(R10, Y4, Y5); OP(R11, Y6, Y7)

#define ROWS3(OP) \
	OP(R8, Y0, Y1, Y2); OP(R9, Y3, Y4, Y5); OP(R10, Y6, Y7, Y8); OP(R11, Y9, Y10, Y11)
