// The inner loops of decisions, for processors with AVX2: see view_amd64.go.

#include "textflag.h"

// n entries in CX, indices in SI, values in DI, the decisions in DX; of the piece: the weights in BX, the intercept in
// R10, the number of features in R8, the bytes of a feature in R9, the mask of the last four outputs in Y13.
#define ARGUMENTS \
	MOVQ n+0(FP), CX       \
	MOVQ indices+8(FP), SI \
	MOVQ values+16(FP), DI \
	MOVQ dst+24(FP), DX    \
	MOVQ p+32(FP), AX      \
	MOVQ (AX), BX          \
	MOVQ 8(AX), R10        \
	MOVQ 16(AX), R8        \
	MOVQ 24(AX), R9        \
	VMOVUPD 32(AX), Y13    \
	MOVQ 64(AX), R11       \
	VXORPD Y0, Y0, Y0      \
	VXORPD Y1, Y1, Y1      \
	VXORPD Y2, Y2, Y2      \
	VXORPD Y3, Y3, Y3      \
	VXORPD Y4, Y4, Y4      \
	VXORPD Y5, Y5, Y5

// The next index into AX. What the next rows need is fetched ahead: the processor's own prefetching ends with a page.
#define INDEX32 \
	PREFETCHT0 512(SI) \
	MOVL       (SI), AX \
	ADDQ       $4, SI

#define INDEX64 \
	PREFETCHT0 512(SI) \
	MOVQ       (SI), AX \
	ADDQ       $8, SI

// The next value into all parts of Y14.
#define VALUE64 \
	PREFETCHT0   512(DI)   \
	VBROADCASTSD (DI), Y14 \
	ADDQ         $8, DI

#define VALUE32 \
	PREFETCHT0   512(DI)       \
	VMOVSS       (DI), X14     \
	VCVTSS2SD    X14, X14, X14 \
	VBROADCASTSD X14, Y14      \
	ADDQ         $4, DI

// The value times the weights of four outputs, added to their sums.
#define TERM(at, sum) \
	VMULPD at(BX)(AX*1), Y14, Y15 \
	VADDPD Y15, sum, sum

#define LASTTERM(at, sum) \
	VMASKMOVPD at(BX)(AX*1), Y13, Y15 \
	VMULPD     Y15, Y14, Y15          \
	VADDPD     Y15, sum, sum

#define TERMS1 LASTTERM(0, Y0)
#define TERMS2 TERM(0, Y0) \
	LASTTERM(32, Y1)
#define TERMS3 TERM(0, Y0) \
	TERM(32, Y1) \
	LASTTERM(64, Y2)
#define TERMS4 TERM(0, Y0) \
	TERM(32, Y1) \
	TERM(64, Y2) \
	LASTTERM(96, Y3)
#define TERMS5 TERM(0, Y0) \
	TERM(32, Y1) \
	TERM(64, Y2) \
	TERM(96, Y3) \
	LASTTERM(128, Y4)
#define TERMS6 TERM(0, Y0) \
	TERM(32, Y1)  \
	TERM(64, Y2)  \
	TERM(96, Y3)  \
	TERM(128, Y4) \
	LASTTERM(160, Y5)

// Four sums and their intercepts to dst.
#define STORE(at, sum) \
	VADDPD  at(R10), sum, sum \
	VMOVUPD sum, at(DX)

#define LASTSTORE(at, sum) \
	VMASKMOVPD at(R10), Y13, Y15 \
	VADDPD     Y15, sum, sum     \
	VMASKMOVPD sum, Y13, at(DX)  \
	VZEROUPPER                   \
	MOVB       $1, ret+40(FP)    \
	RET

#define LOOP(INDEX, VALUE, TERMS, again, done) \
	TESTQ CX, CX  \
	JZ    done    \
again:          \
	INDEX         \
	VALUE         \
	CMPQ  AX, R8  \
	JCC   outside \
	IMULQ R9, AX  \
	TERMS         \
	DECQ  CX      \
	JNZ   again   \
done:

#define DECIDE(INDEX, VALUE) \
	ARGUMENTS                              \
	CMPQ R11, $1                           \
	JEQ  one                               \
	CMPQ R11, $2                           \
	JEQ  two                               \
	CMPQ R11, $3                           \
	JEQ  three                             \
	CMPQ R11, $4                           \
	JEQ  four                              \
	CMPQ R11, $5                           \
	JEQ  five                              \
	LOOP(INDEX, VALUE, TERMS6, six, done6) \
	STORE(0, Y0)                           \
	STORE(32, Y1)                          \
	STORE(64, Y2)                          \
	STORE(96, Y3)                          \
	STORE(128, Y4)                         \
	LASTSTORE(160, Y5)                     \
five:                                    \
	LOOP(INDEX, VALUE, TERMS5, again5, done5) \
	STORE(0, Y0)                           \
	STORE(32, Y1)                          \
	STORE(64, Y2)                          \
	STORE(96, Y3)                          \
	LASTSTORE(128, Y4)                     \
four:                                    \
	LOOP(INDEX, VALUE, TERMS4, again4, done4) \
	STORE(0, Y0)                           \
	STORE(32, Y1)                          \
	STORE(64, Y2)                          \
	LASTSTORE(96, Y3)                      \
three:                                   \
	LOOP(INDEX, VALUE, TERMS3, again3, done3) \
	STORE(0, Y0)                           \
	STORE(32, Y1)                          \
	LASTSTORE(64, Y2)                      \
two:                                     \
	LOOP(INDEX, VALUE, TERMS2, again2, done2) \
	STORE(0, Y0)                           \
	LASTSTORE(32, Y1)                      \
one:                                     \
	LOOP(INDEX, VALUE, TERMS1, again1, done1) \
	LASTSTORE(0, Y0)                       \
outside:                                 \
	VZEROUPPER                             \
	MOVB $0, ret+40(FP)                    \
	RET

// The same of one output and R10 rows with the lengths at R9, one behind the other; the decisions go to DX, R11 bytes
// apart. VALUE gives a float64 in X2.
#define INORDER(INDEX, VALUE) \
	MOVQ   n+0(FP), R10          \
	MOVQ   lengths+8(FP), R9     \
	MOVQ   indices+16(FP), SI    \
	MOVQ   values+24(FP), DI     \
	MOVQ   w+32(FP), BX          \
	MOVQ   features+40(FP), R8   \
	VMOVSD shift+48(FP), X1      \
	MOVQ   dst+56(FP), DX        \
	MOVQ   step+64(FP), R11      \
row:                           \
	MOVQ   (R9), CX              \
	VXORPD X0, X0, X0            \
	TESTQ  CX, CX                \
	JZ     done                  \
again:                         \
	INDEX                        \
	VALUE                        \
	CMPQ   AX, R8                \
	JCC    outside               \
	VMULSD (BX)(AX*8), X2, X2    \
	VADDSD X2, X0, X0            \
	DECQ   CX                    \
	JNZ    again                 \
done:                          \
	VADDSD X1, X0, X0            \
	VMOVSD X0, (DX)              \
	ADDQ   R11, DX               \
	ADDQ   $8, R9                \
	DECQ   R10                   \
	JNZ    row                   \
	MOVB   $1, ret+72(FP)        \
	RET                          \
outside:                       \
	MOVB   $0, ret+72(FP)        \
	RET

#define FLOAT64 \
	PREFETCHT0 512(DI) \
	VMOVSD     (DI), X2 \
	ADDQ       $8, DI

#define FLOAT32 \
	PREFETCHT0 512(DI) \
	VMOVSS     (DI), X2 \
	VCVTSS2SD  X2, X2, X2 \
	ADDQ       $4, DI

// func decide32x64(n int, indices, values, dst unsafe.Pointer, p *decisionPiece) bool
TEXT ·decide32x64(SB), NOSPLIT, $0-41
	DECIDE(INDEX32, VALUE64)

// func decide32x32(n int, indices, values, dst unsafe.Pointer, p *decisionPiece) bool
TEXT ·decide32x32(SB), NOSPLIT, $0-41
	DECIDE(INDEX32, VALUE32)

// func decide64x64(n int, indices, values, dst unsafe.Pointer, p *decisionPiece) bool
TEXT ·decide64x64(SB), NOSPLIT, $0-41
	DECIDE(INDEX64, VALUE64)

// func decide64x32(n int, indices, values, dst unsafe.Pointer, p *decisionPiece) bool
TEXT ·decide64x32(SB), NOSPLIT, $0-41
	DECIDE(INDEX64, VALUE32)

// func inOrder32x64(n int, lengths *int, indices, values, w unsafe.Pointer, features int, shift float64,
//	dst unsafe.Pointer, step int) bool
TEXT ·inOrder32x64(SB), NOSPLIT, $0-73
	INORDER(INDEX32, FLOAT64)

// func inOrder32x32(n int, lengths *int, indices, values, w unsafe.Pointer, features int, shift float64,
//	dst unsafe.Pointer, step int) bool
TEXT ·inOrder32x32(SB), NOSPLIT, $0-73
	INORDER(INDEX32, FLOAT32)

// func inOrder64x64(n int, lengths *int, indices, values, w unsafe.Pointer, features int, shift float64,
//	dst unsafe.Pointer, step int) bool
TEXT ·inOrder64x64(SB), NOSPLIT, $0-73
	INORDER(INDEX64, FLOAT64)

// func inOrder64x32(n int, lengths *int, indices, values, w unsafe.Pointer, features int, shift float64,
//	dst unsafe.Pointer, step int) bool
TEXT ·inOrder64x32(SB), NOSPLIT, $0-73
	INORDER(INDEX64, FLOAT32)
