/* Correlations and their gradients as kernels compute them, shared out over the pool. */
#include "../kernels/kernels.h"
#include "../platform.h"
#include "windows.h"

#include <string.h>

/* Tiles of sums that are enough for threads to share: where there are fewer, parts of the images have sums
 * of their own, of so many numbers at most. */
#define ENOUGH_TILES 32
#define MOST_SUMS 1048576
/* Sizes of axes that are joined to one. */
#define MOST_JOINED ((int64_t)1 << 31)

static const tn_axis unit = {1, 1, 1, 1, 1, 0};

/* Used by one thread at a time where the system has no memory. */
static _Alignas(4096) char spare[TN_CORRELATION_BYTES];
static pthread_mutex_t spare_lock = PTHREAD_MUTEX_INITIALIZER;

static void *take_memory(void)
{
    void *memory = tn_take_work_memory();
    if (memory)
        return memory;
    pthread_mutex_lock(&spare_lock);
    return spare;
}

static void return_memory(void *memory)
{
    if (memory == spare)
        pthread_mutex_unlock(&spare_lock);
    else
        tn_return_work_memory(memory);
}

static int64_t divisor(int64_t a, int64_t b)
{
    while (b) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Multiply-adds of all of it. */
static double work_of(const tn_correlation *sizes)
{
    double work = (double)sizes->images * (double)sizes->groups * (double)sizes->channels *
                  (double)sizes->filters;
    for (int a = 0; a < 3; a++)
        work *= (double)sizes->axes[a].taps * (double)sizes->axes[a].count;
    return work;
}

/* Elements of packed filters, or of sums; -1 where they do not fit. */
static int64_t filter_elements(const tn_correlation *sizes)
{
    int64_t elements = sizes->groups;
    int wide = __builtin_mul_overflow(elements, sizes->channels, &elements);
    wide |= __builtin_mul_overflow(elements, sizes->filters, &elements);
    for (int a = 0; a < 3; a++)
        wide |= __builtin_mul_overflow(elements, sizes->axes[a].taps, &elements);
    return wide ? -1 : elements;
}

/* Elements of what is computed. */
static int64_t results_of(const tn_correlation *sizes, int64_t direction)
{
    if (direction == TN_TO_FILTERS)
        return filter_elements(sizes);
    if (direction == TN_TO_TOP)
        return sizes->images * sizes->groups * sizes->filters * tn_count_of(sizes->axes);
    return sizes->images * sizes->groups * sizes->channels * tn_length_of(sizes->axes);
}

/* In how many parts of the images sums are made, of so many tiles each. */
static int64_t parts_of(const tn_correlation *sizes, int64_t tiles)
{
    int64_t elements = filter_elements(sizes), parts = 1;
    if (tiles > 0 && tiles < ENOUGH_TILES)
        parts = (ENOUGH_TILES + tiles - 1) / tiles;
    if (elements > 0)
        parts = tn_least(parts, MOST_SUMS / elements);
    parts = tn_least(parts, sizes->images);
    return parts < 1 ? 1 : parts;
}

/* What the positions of an image's windows that are `rest` modulo the step are, as windows of top: their
 * axis, their places in the image, the filter's tap that is their first, and how many taps on the next is. */
struct remainder {
    tn_axis axis;
    tn_place place;
    int64_t tap, tap_step;
};

static struct remainder remainder_of(tn_axis axis, int64_t rest)
{
    int64_t common = divisor(axis.step, axis.dilation), apart = axis.step / common;
    int64_t dilation = axis.dilation / common, reach = rest + axis.before, first = 0;
    while (first < apart && first < axis.taps && (reach - first * axis.dilation) % axis.step)
        first++;
    int64_t taps = first < apart && first < axis.taps ? (axis.taps - 1 - first) / apart + 1 : 0;
    int64_t count = rest < axis.length ? (axis.length - rest + axis.step - 1) / axis.step : 0;
    int64_t base = taps ? (reach - first * axis.dilation) / axis.step : 0;
    return (struct remainder){
        .axis = {axis.count, taps, count, 1, dilation, (taps - 1) * dilation - base},
        .place = {rest, axis.step, axis.length},
        .tap = first + (taps - 1) * apart,
        .tap_step = -apart,
    };
}

#define TN_REAL float
#define TN_NAME(x) x##_f32
#include "correlation.inc"
#undef TN_REAL
#undef TN_NAME

#define TN_REAL double
#define TN_NAME(x) x##_f64
#include "correlation.inc"
#undef TN_REAL
#undef TN_NAME
