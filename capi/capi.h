/* What the Go files and shim.c share. */
#ifndef FEWLABEL_CAPI_H
#define FEWLABEL_CAPI_H

#include "fewlabel.h"
#include "functions.h"

#ifdef FEWLABEL_PROVOKE /* provoke.go */
#define provoke_ARGUMENTS(A) A(int32_t, where)
#define ALL_FUNCTIONS(F) FUNCTIONS(F) F(provoke, where > 0)
#else
#define ALL_FUNCTIONS(F) FUNCTIONS(F)
#endif

/* A call of each function: NAME_call has its arguments, CALL_NAME is its number. */
#define FIELD(type, name) type name;
#define CALL(function, is_long)            \
  typedef struct {                         \
    function##_ARGUMENTS(FIELD) char *error; \
    int64_t error_size;                    \
    int32_t status;                        \
  } function##_call;
#define NUMBER(function, is_long) CALL_##function,

ALL_FUNCTIONS(CALL)
enum { ALL_FUNCTIONS(NUMBER) N_CALLS };

typedef const fewlabel_rows const_rows; /* Go has no word for const */

/* Call the group's allreduce on the thread that called the library. */
int32_t shim_allreduce(const fewlabel_group *group, double *values, int64_t n);

/* Remember the text that fewlabel_version answers with; it must live for ever. */
void shim_keep_version(const char *text);

#endif
