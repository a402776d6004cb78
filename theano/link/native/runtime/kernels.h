/* What a family of kernels offers. One C file a family fills one such table. */
#ifndef TN_KERNELS_H
#define TN_KERNELS_H

#include "runtime.h"

#define TN_PRODUCT_TABLE(REAL)                                                                  \
    struct {                                                                                    \
        int64_t panel_width, vector_length;                                                     \
        void (*pack)(const REAL *b, int64_t row_stride, int64_t column_stride, int64_t k,       \
                     int64_t n, REAL *packed, int64_t first_panel, int64_t end_panel);          \
        /* Packed B, or, where b_row_stride is not 0, whole panels of B in memory. */           \
        void (*multiply)(int64_t m, int64_t n, int64_t k, const REAL *a, int64_t a_row_stride,  \
                         int64_t a_column_stride, const REAL *b, int64_t b_row_stride,          \
                         REAL beta, REAL *c, int64_t c_row_stride, int64_t first_panel,         \
                         int64_t end_panel);                                                    \
        /* One row of C from B with contiguous columns. */                                      \
        void (*dots)(int64_t n, int64_t k, const REAL *x, const REAL *b,                        \
                     int64_t b_column_stride, REAL beta, REAL *c, int64_t c_stride);            \
    }

#define TN_ACTIVATION_TABLE(REAL)                                                     \
    struct {                                                                          \
        void (*exp)(int64_t n, const REAL *x, REAL *y);                               \
        void (*expm1)(int64_t n, const REAL *x, REAL *y);                             \
        void (*log)(int64_t n, const REAL *x, REAL *y);                               \
        void (*log1p)(int64_t n, const REAL *x, REAL *y);                             \
        void (*tanh)(int64_t n, const REAL *x, REAL *y);                              \
        void (*sigmoid)(int64_t n, const REAL *x, REAL *y);                           \
        void (*softplus)(int64_t n, const REAL *x, REAL *y);                          \
    }

typedef struct {
    const char *name;
    TN_PRODUCT_TABLE(float) product_f32;
    TN_PRODUCT_TABLE(double) product_f64;
    TN_ACTIVATION_TABLE(float) activation_f32;
    TN_ACTIVATION_TABLE(double) activation_f64;
} tn_kernels;

extern const tn_kernels tn_kernels_portable;
#if defined(__x86_64__)
extern const tn_kernels tn_kernels_avx2;
extern const tn_kernels tn_kernels_avx512;
#endif

/* The family in use. */
const tn_kernels *tn_active_kernels(void);

#endif
