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
