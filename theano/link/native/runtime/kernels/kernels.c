/* The choice of a family of kernels, and the public functions that go through it. */
#include "kernels.h"
#include "../platform.h"

#include <stdatomic.h>
#include <string.h>

static _Atomic(const tn_kernels *) active;

/* Best first. The processor is asked, not the compiler: the library may have been built elsewhere. */
static const tn_kernels *supported(const char *name)
{
#if defined(__x86_64__)
    int bits = tn_vector_bits();
    if ((!name || !strcmp(name, "avx512")) && bits >= 512)
        return &tn_kernels_avx512;
    if ((!name || !strcmp(name, "avx2")) && bits >= 256)
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

/* Numbers that are packed between polls for interrupts: some milliseconds. */
#define PACKED_BETWEEN_POLLS 4194304

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/* How many panels are packed before a poll, where one holds so many numbers. */
static int64_t some_panels(double numbers)
{
    double some = PACKED_BETWEEN_POLLS / (numbers < 1 ? 1 : numbers);
    return some < 1 ? 1 : (int64_t)some;
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
        int64_t some = some_panels((double)k * (double)tn_panel_width_##suffix());                \
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
