// The inner loops of products with panels, for processors with AVX2: see loops_amd64.go. Multiplication and
// addition are separate, so that the results have the same bits as those of the loops in Go.

#include "registers_amd64.h"

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
#define INDEX(LOAD, bytes) \
	LOAD  (SI), AX   \
	ADDQ  $bytes, SI \
	IMULQ R9, AX     \
	ADDQ  BX, AX

#define INDEX16 INDEX(MOVWLZX, 2)
#define INDEX32 INDEX(MOVL, 4)

// The next value into all parts of Y8.
#define VALUE64 \
	VBROADCASTSD (DI), Y8 \
	ADDQ         $8, DI

#define VALUE32 \
	VMOVSS       (DI), X8    \
	VCVTSS2SD    X8, X8, X8  \
	VBROADCASTSD X8, Y8      \
	ADDQ         $4, DI

// The sums or scaled weights of the next four classes; the last of some fours goes on to the next entry.
#define ADDTO(at, sum, product, fours) \
	VMULPD at(AX), Y8, product \
	VADDPD product, sum, sum   \
	CMPQ   R8, $fours          \
	JEQ    next

#define ADDSCALED(at, scale, sum, fours) \
	VMULPD  scale, Y8, sum   \
	VADDPD  at(AX), sum, sum \
	VMOVUPD sum, at(AX)      \
	CMPQ    R8, $fours       \
	JEQ     next

// A macro for each four of up to 32 classes.
#define CLASSES(OP) \
	OP(0, Y0, Y9, 1)    \
	OP(32, Y1, Y10, 2)  \
	OP(64, Y2, Y11, 3)  \
	OP(96, Y3, Y12, 4)  \
	OP(128, Y4, Y13, 5) \
	OP(160, Y5, Y14, 6) \
	OP(192, Y6, Y9, 7)  \
	OP(224, Y7, Y10, 8)

// A product begins with sums of zero, or reads scales; it ends with the sums.
#define PRODUCT(BEGIN, INDEX, VALUE, OP, END) \
	ARGUMENTS     \
	BEGIN         \
	TESTQ CX, CX  \
	JZ    done    \
loop:             \
	INDEX         \
	VALUE         \
	CLASSES(OP)   \
next:             \
	DECQ  CX      \
	JNZ   loop    \
done:             \
	END           \
	VZEROUPPER    \
	RET

#define DOT(INDEX, VALUE) PRODUCT(ZERO8, INDEX, VALUE, ADDTO, WRITE8(DX))
#define AXPY(INDEX, VALUE) PRODUCT(READ8(DX), INDEX, VALUE, ADDSCALED, NONE)

TEXT ·dotClasses16x64(SB), NOSPLIT, $0-56
	DOT(INDEX16, VALUE64)

TEXT ·dotClasses16x32(SB), NOSPLIT, $0-56
	DOT(INDEX16, VALUE32)

TEXT ·dotClasses32x64(SB), NOSPLIT, $0-56
	DOT(INDEX32, VALUE64)

TEXT ·dotClasses32x32(SB), NOSPLIT, $0-56
	DOT(INDEX32, VALUE32)

TEXT ·axpyClasses16x64(SB), NOSPLIT, $0-56
	AXPY(INDEX16, VALUE64)

TEXT ·axpyClasses16x32(SB), NOSPLIT, $0-56
	AXPY(INDEX16, VALUE32)

TEXT ·axpyClasses32x64(SB), NOSPLIT, $0-56
	AXPY(INDEX32, VALUE64)

TEXT ·axpyClasses32x32(SB), NOSPLIT, $0-56
	AXPY(INDEX32, VALUE32)
