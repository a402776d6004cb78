/* The choice of a family of kernels, and the public functions that go through it. */
#include "kernels.h"

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

static _Atomic(const tn_kernels *) active;

/* Best first. The processor is asked, not the compiler: the library may have been built elsewhere. */
static const tn_kernels *supported(const char *name)
{
#if defined(__x86_64__)
    __builtin_cpu_init();
    if ((!name || !strcmp(name, "avx512")) && __builtin_cpu_supports("avx512f") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("fma"))
        return &tn_kernels_avx512;
    if ((!name || !strcmp(name, "avx2")) && __builtin_cpu_supports("avx2") &&
        __builtin_cpu_supports("fma"))
        return &tn_kernels_avx2;
#endif
    if (!name || !strcmp(name, tn_kernels_portable.name))
        return &tn_kernels_portable;
    return NULL;
}

const tn_kernels *tn_active_kernels(void)
{
    const tn_kernels *kernels = atomic_load_explicit(&active, memory_order_acquire);
    if (!kernels) {
        kernels = supported(NULL);
        atomic_store_explicit(&active, kernels, memory_order_release);
    }
    return kernels;
}

int tn_select_kernels(const char *name)
{
    const tn_kernels *kernels = supported(name);
    if (!kernels)
        return 0;
    atomic_store_explicit(&active, kernels, memory_order_release);
    return 1;
}

const char *tn_kernels_name(void) { return tn_active_kernels()->name; }

/* Multiply-adds, and numbers that are packed, between looks at whether a signal came: some
 * milliseconds. */
#define PRODUCT_BETWEEN_LOOKS 134217728
#define PACKED_BETWEEN_LOOKS 4194304
/* Rows of a piece of a long product: so many that B is seldom read anew, and more than a tile has. */
#define MOST_ROWS 1536
#define FEWEST_ROWS 48

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/* How many of `count` go into a piece, where one of them costs so much. */
static int64_t piece_of(int64_t count, int64_t work, double cost)
{
    double some = (double)work / (cost < 1 ? 1 : cost);
    return some < 1 ? 1 : some < (double)count ? (int64_t)some : count;
}

/* Rows of a piece do not follow from the panels, which differ with the number of threads: results
 * then do not either. */
static int64_t pieces_of_rows(int64_t m, int64_t k, int64_t width)
{
    int64_t rows = piece_of(MOST_ROWS, PRODUCT_BETWEEN_LOOKS, (double)k * (double)width);
    rows = rows < FEWEST_ROWS ? FEWEST_ROWS : rows;
    return (m + rows - 1) / rows;
}

#define TN_PRODUCT_FUNCTIONS(suffix, real)                                                        \
    int64_t tn_panel_width_##suffix(void)                                                         \
    {                                                                                             \
        return tn_active_kernels()->product_##suffix.panel_width;                                 \
    }                                                                                             \
    int64_t tn_packed_size_##suffix(int64_t k, int64_t n)                                         \
    {                                                                                             \
        int64_t length = tn_active_kernels()->product_##suffix.vector_length;                     \
        int64_t bytes;                                                                            \
        int wide = __builtin_add_overflow(n, length - 1, &bytes);                                 \
        wide |= __builtin_mul_overflow(bytes / length * length, k, &bytes);                       \
        wide |= __builtin_mul_overflow(bytes, (int64_t)sizeof(real), &bytes);                     \
        return wide ? -1 : bytes;                                                                 \
    }                                                                                             \
    void tn_pack_panels_##suffix(const real *b, int64_t row_stride, int64_t column_stride,        \
                                 int64_t k, int64_t n, real *packed, int64_t first_panel,         \
                                 int64_t end_panel)                                               \
    {                                                                                             \
        int64_t width = tn_panel_width_##suffix();                                     \
        int64_t some = piece_of(end_panel - first_panel, PACKED_BETWEEN_LOOKS,                    \
                                (double)k * (double)width);                                       \
        for (int64_t panel = first_panel; panel < end_panel; panel += some) {                     \
            if (panel > first_panel && tn_stops())                                          \
                return;                                                                           \
            tn_active_kernels()->product_##suffix.pack(b, row_stride, column_stride, k, n,        \
                                                       packed, panel,                             \
                                                       least(panel + some, end_panel));           \
        }                                                                                         \
    }                                                                                             \
    void tn_pack_b_##suffix(const real *b, int64_t row_stride, int64_t column_stride, int64_t k,  \
                            int64_t n, real *packed)                                              \
    {                                                                                             \
        int64_t width = tn_panel_width_##suffix();                                                \
        tn_pack_panels_##suffix(b, row_stride, column_stride, k, n, packed, 0,                    \
                                (n + width - 1) / width);                                         \
    }                                                                                             \
    static __attribute__((noinline)) void multiply_in_pieces_##suffix(                            \
        int64_t m, int64_t n, int64_t k, const real *a, int64_t a_row_stride,                     \
        int64_t a_column_stride, const real *packed_b, real beta, real *c, int64_t c_row_stride,  \
        int64_t first_panel, int64_t end_panel)                                                   \
    {                                                                                             \
        int64_t width = tn_panel_width_##suffix();                                     \
        int64_t pieces = pieces_of_rows(m, k, width);                                             \
        for (int64_t piece = 0, i = 0; piece < pieces; piece++) {                                 \
            int64_t rows = (m - i + pieces - piece - 1) / (pieces - piece);                       \
            int64_t some = piece_of(end_panel - first_panel, PRODUCT_BETWEEN_LOOKS,               \
                                    (double)rows * (double)k * (double)width);                    \
            for (int64_t panel = first_panel; panel < end_panel; panel += some) {                 \
                if ((i || panel > first_panel) && tn_stops())                               \
                    return;                                                                       \
                tn_active_kernels()->product_##suffix.multiply(                                   \
                    rows, n, k, a + i * a_row_stride, a_row_stride, a_column_stride, packed_b, 0, \
                    beta, c + i * c_row_stride, c_row_stride, panel,                              \
                    least(panel + some, end_panel));                                              \
            }                                                                                     \
            i += rows;                                                                            \
        }                                                                                         \
    }                                                                                             \
    void tn_gemm_packed_##suffix(int64_t m, int64_t n, int64_t k, const real *a,                  \
                                 int64_t a_row_stride, int64_t a_column_stride,                   \
                                 const real *packed_b, real beta, real *c, int64_t c_row_stride,  \
                                 int64_t first_panel, int64_t end_panel)                          \
    {                                                                                             \
        if ((double)m * (double)n * (double)k > PRODUCT_BETWEEN_LOOKS) {                          \
            multiply_in_pieces_##suffix(m, n, k, a, a_row_stride, a_column_stride, packed_b, beta,\
                                        c, c_row_stride, first_panel, end_panel);                 \
            return;                                                                               \
        }                                                                                         \
        tn_active_kernels()->product_##suffix.multiply(m, n, k, a, a_row_stride, a_column_stride, \
                                                       packed_b, 0, beta, c, c_row_stride,        \
                                                       first_panel, end_panel);                   \
    }

TN_PRODUCT_FUNCTIONS(f32, float)
TN_PRODUCT_FUNCTIONS(f64, double)

#define TN_ACTIVATION_FUNCTION(name, suffix, real)                 \
    void tn_##name##_##suffix(int64_t n, const real *x, real *y)   \
    {                                                              \
        tn_active_kernels()->activation_##suffix.name(n, x, y);    \
    }
#define TN_ACTIVATION_FUNCTIONS(suffix, real)      \
    TN_ACTIVATION_FUNCTION(exp, suffix, real)      \
    TN_ACTIVATION_FUNCTION(expm1, suffix, real)    \
    TN_ACTIVATION_FUNCTION(log, suffix, real)      \
    TN_ACTIVATION_FUNCTION(log1p, suffix, real)    \
    TN_ACTIVATION_FUNCTION(tanh, suffix, real)     \
    TN_ACTIVATION_FUNCTION(sigmoid, suffix, real)  \
    TN_ACTIVATION_FUNCTION(softplus, suffix, real)

TN_ACTIVATION_FUNCTIONS(f32, float)
TN_ACTIVATION_FUNCTIONS(f64, double)
