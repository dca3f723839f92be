// The inner loops of products with panels, for processors with AVX2: see panels_amd64.go. Multiplication and
// addition are separate, so that the results have the same bits as those of the loops in Go.

#include "textflag.h"

// The arguments: n entries in CX, indices in SI, values in DI, the panel in BX, the sums or scales of 32 classes in DX,
// fours of classes in R8, bytes from a feature to the next in R9.
#define ARGUMENTS \
	MOVQ n+0(FP), CX        \
	MOVQ indices+8(FP), SI  \
	MOVQ values+16(FP), DI  \
	MOVQ panel+24(FP), BX   \
	MOVQ classes+32(FP), DX \
	MOVQ fours+40(FP), R8   \
	MOVQ stride+48(FP), R9

// The place of the next entry's feature in the panel into AX.
#define INDEX16 \
	MOVWLZX (SI), AX  \
	ADDQ    $2, SI    \
	IMULQ   R9, AX    \
	ADDQ    BX, AX

#define INDEX32 \
	MOVL  (SI), AX  \
	ADDQ  $4, SI    \
	IMULQ R9, AX    \
	ADDQ  BX, AX

// The next value into all parts of Y8.
#define VALUE64 \
	VBROADCASTSD (DI), Y8 \
	ADDQ         $8, DI

#define VALUE32 \
	VMOVSS       (DI), X8    \
	VCVTSS2SD    X8, X8, X8  \
	VBROADCASTSD X8, Y8      \
	ADDQ         $4, DI

#define UNLESS(fours, go) \
	CMPQ R8, $fours \
	JEQ  go

#define ADDTO(at, sum, product) \
	VMULPD at(AX), Y8, product   \
	VADDPD product, sum, sum

#define ADDSCALED(at, scale, sum) \
	VMULPD  scale, Y8, sum     \
	VADDPD  at(AX), sum, sum   \
	VMOVUPD sum, at(AX)

#define DOT(INDEX, VALUE) \
	ARGUMENTS                \
	VXORPD Y0, Y0, Y0        \
	VXORPD Y1, Y1, Y1        \
	VXORPD Y2, Y2, Y2        \
	VXORPD Y3, Y3, Y3        \
	VXORPD Y4, Y4, Y4        \
	VXORPD Y5, Y5, Y5        \
	VXORPD Y6, Y6, Y6        \
	VXORPD Y7, Y7, Y7        \
	TESTQ  CX, CX            \
	JZ     done              \
loop:                        \
	INDEX                    \
	VALUE                    \
	ADDTO(0, Y0, Y9)         \
	UNLESS(1, next)          \
	ADDTO(32, Y1, Y10)       \
	UNLESS(2, next)          \
	ADDTO(64, Y2, Y11)       \
	UNLESS(3, next)          \
	ADDTO(96, Y3, Y12)       \
	UNLESS(4, next)          \
	ADDTO(128, Y4, Y13)      \
	UNLESS(5, next)          \
	ADDTO(160, Y5, Y14)      \
	UNLESS(6, next)          \
	ADDTO(192, Y6, Y9)       \
	UNLESS(7, next)          \
	ADDTO(224, Y7, Y10)      \
next:                        \
	DECQ   CX                \
	JNZ    loop              \
done:                        \
	VMOVUPD Y0, (DX)         \
	VMOVUPD Y1, 32(DX)       \
	VMOVUPD Y2, 64(DX)       \
	VMOVUPD Y3, 96(DX)       \
	VMOVUPD Y4, 128(DX)      \
	VMOVUPD Y5, 160(DX)      \
	VMOVUPD Y6, 192(DX)      \
	VMOVUPD Y7, 224(DX)      \
	VZEROUPPER               \
	RET

#define AXPY(INDEX, VALUE) \
	ARGUMENTS                  \
	VMOVUPD (DX), Y0           \
	VMOVUPD 32(DX), Y1         \
	VMOVUPD 64(DX), Y2         \
	VMOVUPD 96(DX), Y3         \
	VMOVUPD 128(DX), Y4        \
	VMOVUPD 160(DX), Y5        \
	VMOVUPD 192(DX), Y6        \
	VMOVUPD 224(DX), Y7        \
	TESTQ   CX, CX             \
	JZ      done               \
loop:                          \
	INDEX                      \
	VALUE                      \
	ADDSCALED(0, Y0, Y9)       \
	UNLESS(1, next)            \
	ADDSCALED(32, Y1, Y10)     \
	UNLESS(2, next)            \
	ADDSCALED(64, Y2, Y11)     \
	UNLESS(3, next)            \
	ADDSCALED(96, Y3, Y12)     \
	UNLESS(4, next)            \
	ADDSCALED(128, Y4, Y13)    \
	UNLESS(5, next)            \
	ADDSCALED(160, Y5, Y14)    \
	UNLESS(6, next)            \
	ADDSCALED(192, Y6, Y9)     \
	UNLESS(7, next)            \
	ADDSCALED(224, Y7, Y10)    \
next:                          \
	DECQ    CX                 \
	JNZ     loop               \
done:                          \
	VZEROUPPER                 \
	RET

// func dotClasses16x64(n int, indices, values, panel, classes unsafe.Pointer, fours, stride int)
TEXT ·dotClasses16x64(SB), NOSPLIT, $0-56
	DOT(INDEX16, VALUE64)

// func dotClasses16x32(n int, indices, values, panel, classes unsafe.Pointer, fours, stride int)
TEXT ·dotClasses16x32(SB), NOSPLIT, $0-56
	DOT(INDEX16, VALUE32)

// func dotClasses32x64(n int, indices, values, panel, classes unsafe.Pointer, fours, stride int)
TEXT ·dotClasses32x64(SB), NOSPLIT, $0-56
	DOT(INDEX32, VALUE64)

// func dotClasses32x32(n int, indices, values, panel, classes unsafe.Pointer, fours, stride int)
TEXT ·dotClasses32x32(SB), NOSPLIT, $0-56
	DOT(INDEX32, VALUE32)

// func axpyClasses16x64(n int, indices, values, panel, classes unsafe.Pointer, fours, stride int)
TEXT ·axpyClasses16x64(SB), NOSPLIT, $0-56
	AXPY(INDEX16, VALUE64)

// func axpyClasses16x32(n int, indices, values, panel, classes unsafe.Pointer, fours, stride int)
TEXT ·axpyClasses16x32(SB), NOSPLIT, $0-56
	AXPY(INDEX16, VALUE32)

// func axpyClasses32x64(n int, indices, values, panel, classes unsafe.Pointer, fours, stride int)
TEXT ·axpyClasses32x64(SB), NOSPLIT, $0-56
	AXPY(INDEX32, VALUE64)

// func axpyClasses32x32(n int, indices, values, panel, classes unsafe.Pointer, fours, stride int)
TEXT ·axpyClasses32x32(SB), NOSPLIT, $0-56
	AXPY(INDEX32, VALUE32)
