/* Elements in order, and where the largest is: by the functions of NumPy that `tn_set_order` was given, which
 * choose what the processor has vectors for. */
#include "../runtime.h"

#include <string.h>

static struct tn_order order;

void tn_set_order(const struct tn_order *functions)
{
    order = *functions;
}

/* Elements of so many bytes, which lie so far apart, side by side. */
static void gather(int64_t bytes, int64_t n, const void *x, int64_t stride, void *out)
{
    if (stride == 1) {
        memcpy(out, x, (size_t)(n * bytes));
        return;
    }
    for (int64_t i = 0; i < n; i++)
        memcpy((char *)out + i * bytes, (const char *)x + i * stride * bytes, (size_t)bytes);
}

void tn_sort(int64_t type, int64_t bytes, int64_t stable, int64_t n, const void *x, int64_t stride, void *out)
{
    gather(bytes, n, x, stride, out);
    /* NumPy's functions are never given less */
    if (n > 1) (stable ? order.stable : order.sort)[type](out, n, 0);
}

/* Positions of equal elements, which lie side by side, in ascending order. */
#define TN_KEEP_ORDER(name, type, differ)                                                        \
    static void name(int64_t n, const type *x, int64_t *out)                                     \
    {                                                                                            \
        for (int64_t first = 0, end; first < n; first = end) {                                   \
            const type a = x[out[first]];                                                        \
            for (end = first + 1; end < n; end++) {                                              \
                const type b = x[out[end]];                                                      \
                if (differ) break;                                                               \
            }                                                                                    \
            if (end - first > 1) order.sort[order.positions](out + first, end - first, 0);       \
        }                                                                                        \
    }
/* NaN is sorted as one number */
TN_KEEP_ORDER(keep_order_f32, float, a != b && (a == a || b == b))
TN_KEEP_ORDER(keep_order_f64, double, a != b && (a == a || b == b))
TN_KEEP_ORDER(keep_order_8, int8_t, a != b)
TN_KEEP_ORDER(keep_order_16, int16_t, a != b)
TN_KEEP_ORDER(keep_order_32, int32_t, a != b)
TN_KEEP_ORDER(keep_order_64, int64_t, a != b)

void tn_argsort(int64_t type, int64_t bytes, int64_t is_float, int64_t n, const void *x, int64_t *out)
{
    for (int64_t i = 0; i < n; i++)
        out[i] = i;
    if (n < 2) return;
    order.argsort[type]((void *)x, out, n, 0);
    if (is_float && bytes == 4) keep_order_f32(n, x, out);
    else if (is_float) keep_order_f64(n, x, out);
    else if (bytes == 1) keep_order_8(n, x, out);
    else if (bytes == 2) keep_order_16(n, x, out);
    else if (bytes == 4) keep_order_32(n, x, out);
    else keep_order_64(n, x, out);
}

void tn_argmax(int64_t type, int64_t n, const void *x, int64_t *out)
{
    order.argmax[type]((void *)x, n, out, 0);
}
