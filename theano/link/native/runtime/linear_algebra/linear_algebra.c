/* Factors of matrices and solutions of linear systems: small ones by loops, others by the functions of
 * LAPACK and BLAS that `tn_set_lapack` was given.
 *
 * LAPACK's matrices lie column after column. A triangle that lies row after row is its transpose there,
 * so that "upper" and "lower" are exchanged in its calls.
 */
#include "../runtime.h"

#include <limits.h>
#include <math.h>

static struct tn_lapack lapack;
static void (*find_lapack)(void);
static int found;

void tn_find_lapack_by(void (*find)(void))
{
    find_lapack = find;
}

void tn_set_lapack(const struct tn_lapack *functions)
{
    lapack = *functions;
    __atomic_store_n(&found, 1, __ATOMIC_RELEASE);
}

/* Whether there are functions: they are looked for when the first is needed. */
static int ready(void)
{
    if (!__atomic_load_n(&found, __ATOMIC_ACQUIRE))
        find_lapack();
    return __atomic_load_n(&found, __ATOMIC_ACQUIRE);
}

/* Up to so many rows, loops take less time than a call. */
enum { SMALL = 16 };

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

#define TN_REAL float
#define TN_NAME(x) x##_f32
#include "linear_algebra.inc"
#include "reflections.inc"
#include "singular_values.inc"
#include "tridiagonal.inc"
#undef TN_REAL
#undef TN_NAME

#define TN_REAL double
#define TN_NAME(x) x##_f64
#include "linear_algebra.inc"
#include "reflections.inc"
#include "singular_values.inc"
#include "tridiagonal.inc"
#undef TN_REAL
#undef TN_NAME

int64_t tn_permutation(int64_t n, int64_t inverse, const int64_t *exchanges, int64_t stride, int64_t *out)
{
    for (int64_t i = 0; i < n; i++)
        out[i] = i;
    for (int64_t step = 0; step < n; step++) {
        /* backwards, they undo what they do forwards */
        const int64_t i = inverse ? step : n - 1 - step, given = exchanges[i * stride];
        const int64_t other = given < 0 ? given + n : given;
        if (other < 0 || other >= n) return 0;
        const int64_t kept = out[i];
        out[i] = out[other];
        out[other] = kept;
    }
    return 1;
}
