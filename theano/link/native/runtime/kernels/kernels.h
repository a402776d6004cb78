/* What a family of kernels offers. One C file a family fills one such table. */
#ifndef TN_KERNELS_H
#define TN_KERNELS_H

#include "../runtime.h"

#include <stddef.h>

/* How B lies: in packed panels; row after row, to be read there; anyhow, to be packed panel by panel. */
enum { TN_PACKED, TN_IN_PLACE, TN_COPIED };

/* Steps of a block of A and of B, of one where B is read in place or there is no work memory, and of one of
 * a correlation. The more there are, the less often C is read and written. */
enum { TN_BLOCK_STEPS = 512, TN_FEW_STEPS = 64, TN_CORRELATION_STEPS = 384 };
/* Bytes of the panels of B that are packed together and used by all rows of A: they come from the last
 * cache, and the more there are, the less often A is packed. Bytes of them and of a block of A, in any
 * family; a correlation uses less, which stays in the second-level cache. */
enum { TN_GROUP_BYTES = 1572864, TN_WORK_BYTES = 1867776, TN_CORRELATION_BYTES = 1007616 };
/* Multiply-adds between polls for interrupts: about a millisecond. */
#define TN_BETWEEN_POLLS 1e8

/* C[m, n] = beta * C + A[m, k] B[k, n]; the strides count elements, C's columns are contiguous. */
#define TN_PRODUCT_OF(real, name)                   \
    typedef struct {                                \
        int64_t m, n, k;                            \
        const real *a;                              \
        int64_t a_row_stride, a_column_stride;      \
        int kind;                                   \
        const real *b;                              \
        int64_t b_row_stride, b_column_stride;      \
        real beta;                                  \
        real *c;                                    \
        int64_t c_row_stride;                       \
    } name;
TN_PRODUCT_OF(float, tn_product_f32)
TN_PRODUCT_OF(double, tn_product_f64)

/* Where the results of an axis lie in memory: the first, how far apart they are, of how many. */
typedef struct {
    int64_t first, apart, length;
} tn_place;

/* A correlation as kernels see it, whichever gradient it is: channels of `source` are added up for rows of
 * `out`, in each of the groups of each image. A filter's taps lie anywhere. Of a gradient by filters, `top`
 * is what the results are multiplied with, and `packed` the sums of parts of the images. */
#define TN_CORRELATION_OF(real, name)                                        \
    typedef struct {                                                         \
        int64_t images, groups, channels, rows;                              \
        tn_axis axes[3];                                                     \
        const real *source;                                                  \
        const real *filters;                                                 \
        int64_t group_stride, row_stride, channel_stride, tap_strides[3];    \
        const real *top;                                                     \
        real *packed;                                                        \
        real *out;                                                           \
        tn_place places[3];                                                  \
    } name;
TN_CORRELATION_OF(float, tn_correlation_f32)
TN_CORRELATION_OF(double, tn_correlation_f64)

#define TN_PRODUCT_TABLE(REAL, PRODUCT)                                                         \
    struct {                                                                                    \
        int64_t panel_width, vector_length, tile_rows;                                          \
        void (*pack)(const REAL *b, int64_t row_stride, int64_t column_stride, int64_t k,       \
                     int64_t n, REAL *packed, int64_t first_panel, int64_t end_panel);          \
        /* Tiles, of which C has ceil(m / tile_rows) in a column, of some panels. work holds        \
         * TN_WORK_BYTES; without it, it takes longer. */                                       \
        void (*multiply)(const PRODUCT *all, int64_t first_tile, int64_t end_tile,              \
                         int64_t first_panel, int64_t end_panel, void *work);                   \
        /* One row of C from B with contiguous columns. */                                      \
        void (*dots)(int64_t n, int64_t k, const REAL *x, const REAL *b,                        \
                     int64_t b_column_stride, REAL beta, REAL *c, int64_t c_stride);            \
    }

#define TN_CORRELATION_TABLE(CORRELATION)                                                         \
    struct {                                                                                    \
        /* Tiles of the filters of all groups. */                                               \
        void (*pack)(const CORRELATION *all, int64_t first_tile, int64_t end_tile);             \
        int64_t (*tasks)(const CORRELATION *all);                                               \
        /* With packed filters; work holds TN_CORRELATION_BYTES. */                                    \
        void (*correlate)(const CORRELATION *all, int64_t first_task, int64_t end_task,         \
                          void *work);                                                          \
        /* Tiles of the sums of all groups over each of so many parts of the images. */         \
        void (*weigh)(const CORRELATION *all, int64_t parts, int64_t first_unit,                \
                      int64_t end_unit, void *work);                                            \
        /* Rows of the sums of all groups. */                                                   \
        void (*add)(const CORRELATION *all, int64_t parts, int64_t first_row, int64_t end_row); \
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
    TN_PRODUCT_TABLE(float, tn_product_f32) product_f32;
    TN_PRODUCT_TABLE(double, tn_product_f64) product_f64;
    TN_CORRELATION_TABLE(tn_correlation_f32) correlation_f32;
    TN_CORRELATION_TABLE(tn_correlation_f64) correlation_f64;
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

/* Multiply-adds that occupy a thread long enough to be worth waking it: about 10 us. */
#define TN_WORTH_A_THREAD 500000.0
/* So many are worth a poll for interrupts before they begin. */
#define TN_WORTH_A_POLL (10 * TN_WORTH_A_THREAD)
/* How many threads so many of them are for. */
int tn_threads_of_multiply_adds(double multiply_adds);

/* TN_WORK_BYTES for a product, taken from this thread's and given back; NULL where there is no memory. A
 * poll may run a Python handler, whose own products must not write into it. */
void *tn_take_work_memory(void);
void tn_return_work_memory(void *memory);

#endif
