// The loops of vector.go, four entries at a time: see loops_amd64.go.

#include "textflag.h"

// func addBlocks(blocks int, dst, src unsafe.Pointer, scale float64)
TEXT ·addBlocks(SB), NOSPLIT, $0-32
	MOVQ         blocks+0(FP), CX
	MOVQ         dst+8(FP), DI
	MOVQ         src+16(FP), SI
	VBROADCASTSD scale+24(FP), Y0

loop:
	VMULPD  (SI), Y0, Y1
	VADDPD  (DI), Y1, Y1
	VMOVUPD Y1, (DI)
	ADDQ    $32, SI
	ADDQ    $32, DI
	DECQ    CX
	JNZ     loop
	VZEROUPPER
	RET

// func scaleBlocks(blocks int, dst unsafe.Pointer, factor float64)
TEXT ·scaleBlocks(SB), NOSPLIT, $0-24
	MOVQ         blocks+0(FP), CX
	MOVQ         dst+8(FP), DI
	VBROADCASTSD factor+16(FP), Y0

loop:
	VMULPD  (DI), Y0, Y1
	VMOVUPD Y1, (DI)
	ADDQ    $32, DI
	DECQ    CX
	JNZ     loop
	VZEROUPPER
	RET

// func maxBlocks(blocks int, src unsafe.Pointer) float64
TEXT ·maxBlocks(SB), NOSPLIT, $0-24
	MOVQ    blocks+0(FP), CX
	MOVQ    src+8(FP), SI
	VMOVUPD (SI), Y0

loop:
	VMAXPD       (SI), Y0, Y0
	ADDQ         $32, SI
	DECQ         CX
	JNZ          loop
	VEXTRACTF128 $1, Y0, X1
	VMAXPD       X1, X0, X0
	VPERMILPD    $1, X0, X1
	VMAXSD       X1, X0, X0
	VMOVSD       X0, ret+16(FP)
	VZEROUPPER
	RET
