/* What generated C does once a call: arrays are looked at, memory is divided, rows are brought into order,
 * threads are given a statement. Here it is compiled once, and not with each loop and each function. */
#include "runtime.h"

#include <stdlib.h>
#include <string.h>

static int is_as_expected(const tn_array *array, const void *type, const tn_expected *expected)
{
    enum { ALIGNED = 0x100 };
    const int number = array->dtype->number;
    return array->type == type && array->ndim == expected->ndim
        && (number == expected->number || number == expected->other)
        && array->dtype->order != '>' && (array->flags & ALIGNED);
}

/* Whether elements lie side by side, with the last dimension innermost, or the first one. */
static int is_side_by_side(const tn_array *array, int64_t itemsize, int in_columns)
{
    int64_t stride = itemsize;
    /* strides of an array without elements say nothing */
    for (int d = 0; d < array->ndim; d++)
        if (array->shape[d] == 0) return 1;
    for (int k = 0; k < array->ndim; k++) {
        const int d = in_columns ? k : array->ndim - 1 - k;
        if (array->shape[d] != 1 && array->strides[d] != stride) return 0;
        stride *= array->shape[d];
    }
    return 1;
}

/* Whether strides are whole elements. */
static int is_regular(const tn_array *array, int64_t itemsize)
{
    for (int d = 0; d < array->ndim; d++)
        if (array->strides[d] % itemsize) return 0;
    return 1;
}

int64_t tn_unlike(const void *arrays, const void *array_type, const tn_expected *expected, int count)
{
    for (int k = 0; k < count; k++, expected++) {
        const tn_array *const array = tn_array_in(arrays, k);
        if (!is_as_expected(array, array_type, expected)) return TN_CONVERT - k;
        if (!(expected->order == TN_IN_ANY_ORDER
                    ? is_regular(array, expected->itemsize)
                    : is_side_by_side(array, expected->itemsize, expected->order == TN_IN_COLUMNS)))
            return TN_CONVERT - k;
    }
    return 0;
}

int tn_other_shapes(const void *arrays, int first, int count, const int64_t *shapes)
{
    for (int k = 0; k < count; k++) {
        const tn_array *const array = tn_array_in(arrays, first + k);
        for (int d = 0; d < array->ndim; d++)
            if (array->shape[d] != *shapes++) return 1;
    }
    return 0;
}

int64_t tn_bytes(int count, const int64_t *sizes, const int *which)
{
    int64_t bytes = 1;
    int empty = 0;
    for (int k = 0; k < count; k++) {
        const int64_t size = sizes[which ? which[k] : k];
        empty |= !size;
        if (size < 0 || __builtin_mul_overflow(bytes, size ? size : 1, &bytes)) return -1;
    }
    return bytes > TN_MOST_BYTES ? -1 : empty ? 0 : bytes;
}

/* Where memory goes on after so many bytes, in cache lines; -1 stays. */
static int64_t after(int64_t at, int64_t bytes)
{
    const int64_t end = at + ((bytes + 63) & ~(int64_t)63);
    return at < 0 || bytes < 0 || end > TN_MOST_BYTES ? -1 : end;
}

/* Below so many bytes nothing is gained by sharing them. */
#define ENOUGH_TO_SHARE ((int64_t)1 << 20)

/* A piece of memory that is to be placed: when it is needed, how large it is, and where it lies. */
typedef struct {
    int first, last;
    int64_t bytes, at;
} piece;

static int by_size(const void *a, const void *b)
{
    const piece *const one = *(piece *const *)a, *const other = *(piece *const *)b;
    if (one->bytes != other->bytes) return one->bytes < other->bytes ? 1 : -1;
    return one < other ? -1 : 1;
}

/* Where a piece fits lowest among those that are placed, in order of where they lie, and are needed
 * while it is; it becomes one of them. */
static void place(piece *new, piece **placed, int count)
{
    int64_t at = 0;
    for (int k = 0; k < count; k++) {
        const piece *const other = placed[k];
        if (new->first > other->last || other->first > new->last) continue;
        if (after(at, new->bytes) <= other->at) break;
        const int64_t end = after(other->at, other->bytes);
        if (end > at) at = end;
    }
    new->at = at;
    for (; count && placed[count - 1]->at > at; count--) placed[count] = placed[count - 1];
    placed[count] = new;
}

int64_t tn_plan(const int64_t *factors, const int *row, int rows, int64_t *slots, int count)
{
    piece pieces[count + 1], *order[count + 1], *placed[count + 1];
    int found = 0;
    int64_t all = 0;
    for (; rows; rows--, row += 3 + row[2]) {
        const int64_t bytes = tn_bytes(row[2], factors, row + 3);
        if (bytes < 0) return -1;
        if (row[0] < 0) continue;
        order[found] = &pieces[found];
        pieces[found++] = (piece){row[0], row[1], bytes, all};
        if ((all = after(all, bytes)) < 0) return -1;
    }
    if (all > ENOUGH_TO_SHARE) {
        qsort(order, found, sizeof *order, by_size);
        all = 0;
        for (int k = 0; k < found; k++) {
            place(order[k], placed, k);
            const int64_t end = after(order[k]->at, order[k]->bytes);
            if (end < 0) return -1;
            if (end > all) all = end;
        }
    }
    for (int k = 0; k < found; k++) slots[k] = pieces[k].at;
    return all;
}

int64_t tn_clip(int64_t bound, int64_t size, int64_t low, int64_t high)
{
    if (bound < 0) bound += size;
    return bound < low ? low : bound > high ? high : bound;
}

int64_t tn_slice_length(int64_t start, int64_t stop, int64_t step)
{
    if (step > 0 ? start >= stop : start <= stop) return 0;
    const uint64_t apart = step > 0 ? (uint64_t)stop - (uint64_t)start : (uint64_t)start - (uint64_t)stop;
    const uint64_t by = step > 0 ? (uint64_t)step : -(uint64_t)step;
    const uint64_t length = (apart - 1) / by + 1;
    return length > INT64_MAX ? INT64_MAX : (int64_t)length;
}

static void reverse_rows(char *rows, int64_t count, int64_t bytes)
{
    for (int64_t low = 0, high = count - 1; low < high; low++, high--)
        for (int64_t k = 0; k < bytes; k++) {
            const char kept = rows[low * bytes + k];
            rows[low * bytes + k] = rows[high * bytes + k];
            rows[high * bytes + k] = kept;
        }
}

void tn_order_rows(void *ring, int64_t rows, int64_t bytes, int64_t written)
{
    char *const bottom = ring;
    if (rows > written) __builtin_memset(bottom + written * bytes, 0, (rows - written) * bytes);
    if (rows >= written || !(written % rows)) return;
    const int64_t first = written % rows;
    reverse_rows(bottom, first, bytes);
    reverse_rows(bottom + first * bytes, rows - first, bytes);
    reverse_rows(bottom, rows, bytes);
}

void tn_end_ring(void *ring, void *result, int64_t rows, int64_t kept, int64_t bytes, int64_t written)
{
    if (ring == result) {
        tn_order_rows(ring, kept, bytes, written);
        return;
    }
    for (int64_t k = 0; k < kept; k++)
        memcpy((char *)result + k * bytes, (char *)ring + (written - kept + k) % rows * bytes, bytes);
}

void tn_last_rows_first(void *rows, int64_t last, int64_t count, int64_t bytes)
{
    memmove(rows, (char *)rows + last * bytes, count * bytes);
}

/* As many rows as products need to be fast; what lies in the caches anyway. */
#define ROWS_OF_BLOCK 1024
#define BYTES_OF_BLOCK ((int64_t)1 << 20)

static _Atomic int64_t forced_block_steps;

void tn_set_block_steps(int64_t steps)
{
    forced_block_steps = steps;
}

int64_t tn_block_steps(int64_t steps, int64_t rows, int64_t bytes, int64_t fits)
{
    const int64_t all = steps > 0 ? steps : 1, forced = forced_block_steps;
    if (!fits || rows <= 0 || bytes <= 0) return all;
    if (forced) return forced < all ? forced : all;
    const int64_t by_rows = (ROWS_OF_BLOCK + rows - 1) / rows;
    const int64_t by_bytes = (BYTES_OF_BLOCK + bytes - 1) / bytes;
    const int64_t block = by_rows > by_bytes ? by_rows : by_bytes;
    if (block >= all) return all;
    /* no fewer blocks, and the last is not shorter than it must be */
    const int64_t blocks = (all - 1) / block + 1;
    return (all - 1) / blocks + 1;
}

void tn_share_out(const void *runtime, double nanoseconds,
                  void (*statement)(void *operands, int part, int parts), void **operands)
{
    operands[0] = (void *)runtime;
    tn_pool_share(tn_threads_for(nanoseconds, 1), statement, operands);
}
