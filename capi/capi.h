/* What the Go files and shim.c share. The names for constant types let cgo declare the Go exports with the parameters
 * that fewlabel.h promises: Go itself has no word for "pointer to const". */
#ifndef FEWLABEL_CAPI_H
#define FEWLABEL_CAPI_H

#include "fewlabel.h"

typedef const char const_char;
typedef const int32_t const_int32;
typedef const int64_t const_int64;
typedef const double const_double;
typedef const fewlabel_csr const_csr;
typedef const fewlabel_dense const_dense;
typedef const fewlabel_group const_group;

/* Call the group's allreduce on the thread that called the library. */
int32_t shim_allreduce(const fewlabel_group *group, double *values, int64_t n);

/* Remember the text that fewlabel_version answers with; it must live for ever. */
void shim_keep_version(const char *text);

#endif
