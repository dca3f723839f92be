#include "textflag.h"

// NONE is a macro's argument that does nothing. READ, WRITE and ZERO are of four registers, READ8, WRITE8 and ZERO8 of Y0
// to Y7, whose numbers lie side by side.
#define NONE

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

#define READ8(base) READ(base, 0, Y0, Y1, Y2, Y3); READ(base, 128, Y4, Y5, Y6, Y7)
#define ZERO8 ZERO(Y0, Y1, Y2, Y3); ZERO(Y4, Y5, Y6, Y7)
#define WRITE8(base) WRITE(base, 0, Y0, Y1, Y2, Y3); WRITE(base, 128, Y4, Y5, Y6, Y7)
