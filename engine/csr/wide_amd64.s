// The inner loops of products with wide weights, for processors with AVX2: see wide_amd64.go. Multiplication and
// addition are separate, so that the results have the same bits as those of the loops in Go.

#include "textflag.h"

// The arguments: n entries in CX, indices in SI, values in DI, the panel in BX, the sums or scales in DX.
#define ARGUMENTS \
	MOVQ n+0(FP), CX        \
	MOVQ indices+8(FP), SI  \
	MOVQ values+16(FP), DI  \
	MOVQ panel+24(FP), BX   \
	MOVQ classes+32(FP), DX

// The next index times the bytes of a feature (1 << shift) into AX.
#define INDEX16(shift) \
	MOVWLZX (SI), AX  \
	ADDQ    $2, SI    \
	SHLQ    $shift, AX

#define INDEX32(shift) \
	MOVL (SI), AX     \
	ADDQ $4, SI       \
	SHLQ $shift, AX

// The next value into all parts of Y2.
#define VALUE64 \
	VBROADCASTSD (DI), Y2 \
	ADDQ         $8, DI

#define VALUE32 \
	VMOVSS       (DI), X2    \
	VCVTSS2SD    X2, X2, X2  \
	VBROADCASTSD X2, Y2      \
	ADDQ         $4, DI

#define DOT8(INDEX, VALUE) \
	ARGUMENTS                     \
	VXORPD  Y0, Y0, Y0            \
	VXORPD  Y1, Y1, Y1            \
	TESTQ   CX, CX                \
	JZ      done                  \
loop:                             \
	INDEX(6)                      \
	VALUE                         \
	VMULPD  (BX)(AX*1), Y2, Y3    \
	VADDPD  Y3, Y0, Y0            \
	VMULPD  32(BX)(AX*1), Y2, Y4  \
	VADDPD  Y4, Y1, Y1            \
	DECQ    CX                    \
	JNZ     loop                  \
done:                             \
	VMOVUPD Y0, (DX)              \
	VMOVUPD Y1, 32(DX)            \
	VZEROUPPER                    \
	RET

#define DOT4(INDEX, VALUE) \
	ARGUMENTS                     \
	VXORPD  Y0, Y0, Y0            \
	TESTQ   CX, CX                \
	JZ      done                  \
loop:                             \
	INDEX(5)                      \
	VALUE                         \
	VMULPD  (BX)(AX*1), Y2, Y3    \
	VADDPD  Y3, Y0, Y0            \
	DECQ    CX                    \
	JNZ     loop                  \
done:                             \
	VMOVUPD Y0, (DX)              \
	VZEROUPPER                    \
	RET

#define AXPY8(INDEX, VALUE) \
	ARGUMENTS                     \
	VMOVUPD (DX), Y0              \
	VMOVUPD 32(DX), Y1            \
	TESTQ   CX, CX                \
	JZ      done                  \
loop:                             \
	INDEX(6)                      \
	VALUE                         \
	VMULPD  Y0, Y2, Y3            \
	VMULPD  Y1, Y2, Y4            \
	VADDPD  (BX)(AX*1), Y3, Y3    \
	VADDPD  32(BX)(AX*1), Y4, Y4  \
	VMOVUPD Y3, (BX)(AX*1)        \
	VMOVUPD Y4, 32(BX)(AX*1)      \
	DECQ    CX                    \
	JNZ     loop                  \
done:                             \
	VZEROUPPER                    \
	RET

#define AXPY4(INDEX, VALUE) \
	ARGUMENTS                     \
	VMOVUPD (DX), Y0              \
	TESTQ   CX, CX                \
	JZ      done                  \
loop:                             \
	INDEX(5)                      \
	VALUE                         \
	VMULPD  Y0, Y2, Y3            \
	VADDPD  (BX)(AX*1), Y3, Y3    \
	VMOVUPD Y3, (BX)(AX*1)        \
	DECQ    CX                    \
	JNZ     loop                  \
done:                             \
	VZEROUPPER                    \
	RET

// func dot8x16x64(n int, indices, values, panel, classes unsafe.Pointer)
TEXT ·dot8x16x64(SB), NOSPLIT, $0-40
	DOT8(INDEX16, VALUE64)

// func dot8x16x32(n int, indices, values, panel, classes unsafe.Pointer)
TEXT ·dot8x16x32(SB), NOSPLIT, $0-40
	DOT8(INDEX16, VALUE32)

// func dot8x32x64(n int, indices, values, panel, classes unsafe.Pointer)
TEXT ·dot8x32x64(SB), NOSPLIT, $0-40
	DOT8(INDEX32, VALUE64)

// func dot8x32x32(n int, indices, values, panel, classes unsafe.Pointer)
TEXT ·dot8x32x32(SB), NOSPLIT, $0-40
	DOT8(INDEX32, VALUE32)

// func dot4x16x64(n int, indices, values, panel, classes unsafe.Pointer)
TEXT ·dot4x16x64(SB), NOSPLIT, $0-40
	DOT4(INDEX16, VALUE64)

// func dot4x16x32(n int, indices, values, panel, classes unsafe.Pointer)
TEXT ·dot4x16x32(SB), NOSPLIT, $0-40
	DOT4(INDEX16, VALUE32)

// func dot4x32x64(n int, indices, values, panel, classes unsafe.Pointer)
TEXT ·dot4x32x64(SB), NOSPLIT, $0-40
	DOT4(INDEX32, VALUE64)

// func dot4x32x32(n int, indices, values, panel, classes unsafe.Pointer)
TEXT ·dot4x32x32(SB), NOSPLIT, $0-40
	DOT4(INDEX32, VALUE32)

// func axpy8x16x64(n int, indices, values, panel, classes unsafe.Pointer)
TEXT ·axpy8x16x64(SB), NOSPLIT, $0-40
	AXPY8(INDEX16, VALUE64)

// func axpy8x16x32(n int, indices, values, panel, classes unsafe.Pointer)
TEXT ·axpy8x16x32(SB), NOSPLIT, $0-40
	AXPY8(INDEX16, VALUE32)

// func axpy8x32x64(n int, indices, values, panel, classes unsafe.Pointer)
TEXT ·axpy8x32x64(SB), NOSPLIT, $0-40
	AXPY8(INDEX32, VALUE64)

// func axpy8x32x32(n int, indices, values, panel, classes unsafe.Pointer)
TEXT ·axpy8x32x32(SB), NOSPLIT, $0-40
	AXPY8(INDEX32, VALUE32)

// func axpy4x16x64(n int, indices, values, panel, classes unsafe.Pointer)
TEXT ·axpy4x16x64(SB), NOSPLIT, $0-40
	AXPY4(INDEX16, VALUE64)

// func axpy4x16x32(n int, indices, values, panel, classes unsafe.Pointer)
TEXT ·axpy4x16x32(SB), NOSPLIT, $0-40
	AXPY4(INDEX16, VALUE32)

// func axpy4x32x64(n int, indices, values, panel, classes unsafe.Pointer)
TEXT ·axpy4x32x64(SB), NOSPLIT, $0-40
	AXPY4(INDEX32, VALUE64)

// func axpy4x32x32(n int, indices, values, panel, classes unsafe.Pointer)
TEXT ·axpy4x32x32(SB), NOSPLIT, $0-40
	AXPY4(INDEX32, VALUE32)
