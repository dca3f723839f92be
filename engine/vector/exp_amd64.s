// The loop of vector.go, sixteen entries at a time: see exp_amd64.go.

#include "textflag.h"

// Four entries: n, and r in the place of x.
#define REDUCE(at, r, n) \
	VMOVUPD      at(SI), r    \
	VMULPD       (DX), r, n   \
	VROUNDPD     $0, n, n     \
	VFNMADD231PD 32(DX), n, r \
	VFNMADD231PD 64(DX), n, r

// The sum of a series times 2^n: n + 2^52 + 2^51 has n in its last bits. 0 where x is below the least exponent.
#define SCALE(at, n, p) \
	VADDPD  128(DX), n, n      \
	VPSLLQ  $52, n, n          \
	VPADDQ  n, p, p            \
	VMOVUPD at(SI), Y12        \
	VCMPPD  $5, 96(DX), Y12, Y12 \
	VANDPD  Y12, p, p          \
	VMOVUPD p, at(SI)

// func expBlocks(blocks int, x, constants unsafe.Pointer)
TEXT ·expBlocks(SB), NOSPLIT, $0-24
	MOVQ blocks+0(FP), CX
	MOVQ x+8(FP), SI
	MOVQ constants+16(FP), DX

sixteen:
	REDUCE(0, Y0, Y4)
	REDUCE(32, Y1, Y5)
	REDUCE(64, Y2, Y6)
	REDUCE(96, Y3, Y7)
	VMOVUPD 160(DX), Y8
	VMOVAPD Y8, Y9
	VMOVAPD Y8, Y10
	VMOVAPD Y8, Y11
	MOVQ    $192, AX

term:
	VMOVUPD     (DX)(AX*1), Y12
	VFMADD213PD Y12, Y0, Y8
	VFMADD213PD Y12, Y1, Y9
	VFMADD213PD Y12, Y2, Y10
	VFMADD213PD Y12, Y3, Y11
	ADDQ        $32, AX
	CMPQ        AX, $576
	JLE         term
	SCALE(0, Y4, Y8)
	SCALE(32, Y5, Y9)
	SCALE(64, Y6, Y10)
	SCALE(96, Y7, Y11)
	ADDQ $128, SI
	SUBQ $1, CX
	JNE  sixteen
	VZEROUPPER
	RET
