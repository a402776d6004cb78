/* Products of matrices as they lie in memory: packed block by block, shared out over the pool. */
#include "../kernels/kernels.h"
#include "../platform.h"

/* Numbers that are multiplied by a vector between polls for interrupts: some milliseconds. */
#define DOTS_BETWEEN_POLLS 4194304
/* Numbers of B up to which it is read as it lies in memory, if it can be, by any number of rows. */
#define NUMBERS_IN_PLACE 4096
/* Rows of a thread for which it may read all of B, or all of its columns; and twice as many where B comes from a
 * cache that all processors share, which is worth it only where threads then need not wait for one another. */
#define FEWEST_ROWS 8
#define BYTES_OF_A_CORE 1048576
/* From so many vectors of sums on, a tile has one sum for each element (gemm_tile.inc). */
#define SUMS_ALONE 8

/* One work memory a thread, which is freed with the thread. */
static pthread_key_t memory_key;
static pthread_once_t memory_once = PTHREAD_ONCE_INIT;

static void make_key(void) { pthread_key_create(&memory_key, tn_free_aligned); }

void *tn_take_work_memory(void)
{
    pthread_once(&memory_once, make_key);
    void *memory = pthread_getspecific(memory_key);
    if (!memory)
        return tn_allocate_aligned(4096, TN_WORK_BYTES);
    pthread_setspecific(memory_key, NULL);
    return memory;
}

void tn_return_work_memory(void *memory)
{
    if (pthread_getspecific(memory_key) || pthread_setspecific(memory_key, memory))
        tn_free_aligned(memory);
}

int tn_threads_of_multiply_adds(double multiply_adds)
{
    double work = multiply_adds / TN_WORTH_A_THREAD;
    int threads = tn_oversubscribed_for() ? 1 : tn_max_threads();
    return work >= threads ? threads : work < 2 ? 1 : (int)work;
}

/* Into how many of `parts` the columns are cut; the rows are cut so that these are all. Chosen so that the
 * parts are nearly square, since a part reads its rows of A and its columns of B. */
static int column_parts(int64_t m, int64_t n, int parts)
{
    int best = parts;
    double least = 0;
    for (int across = 1; across <= parts; across++) {
        if (parts % across)
            continue;
        double read = (double)m / (parts / across) + (double)n / across;
        if (across == 1 || read < least) {
            least = read;
            best = across;
        }
    }
    return best;
}

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

#define TN_REAL float
#define TN_NAME(x) x##_f32
#include "gemm_blocks.inc"
#undef TN_REAL
#undef TN_NAME

#define TN_REAL double
#define TN_NAME(x) x##_f64
#include "gemm_blocks.inc"
#undef TN_REAL
#undef TN_NAME
