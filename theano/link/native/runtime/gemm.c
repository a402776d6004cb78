/* Products of matrices as they lie in memory: packed block by block, shared out over the pool. */
#include "kernels.h"

#include <pthread.h>
#include <stdlib.h>

/* Multiply-adds that occupy a thread long enough to be worth waking it: about 10 us. */
#define WORK_PER_THREAD 500000.0
/* So much of it is worth a look at whether a signal came. */
#define WORK_BEFORE_LOOKS 10
/* Steps of a block of B, and bytes of it when packed: half of a usual second-level cache. */
#define BLOCK_STEPS 256
#define PACKED_BYTES 524288
/* Bytes of a block where there is no memory for that: on the stack of any thread. */
#define STACK_BYTES 32768
/* Rows of A up to which B is read as it lies in memory, if it can be. */
#define ROWS_IN_PLACE 24
/* Panels of B that are read in place, and numbers that meet a vector, before a long product looks
 * up. */
#define PANELS_IN_PLACE 4096
#define DOTS_BETWEEN_LOOKS 4194304

/* One work buffer a thread, which grows and is freed with the thread. */
static pthread_key_t buffer_key;
static pthread_once_t buffer_once = PTHREAD_ONCE_INIT;

struct buffer {
    int64_t bytes;
    void *memory;
};

static void free_buffer(void *argument)
{
    struct buffer *buffer = argument;
    free(buffer->memory);
    free(buffer);
}

static void make_key(void) { pthread_key_create(&buffer_key, free_buffer); }

static void *work_buffer(int64_t bytes)
{
    pthread_once(&buffer_once, make_key);
    struct buffer *buffer = pthread_getspecific(buffer_key);
    if (!buffer) {
        buffer = calloc(1, sizeof *buffer);
        if (!buffer)
            return NULL;
        if (pthread_setspecific(buffer_key, buffer)) {
            free(buffer);
            return NULL;
        }
    }
    if (buffer->bytes < bytes) {
        free(buffer->memory);
        bytes = (bytes + 4095) / 4096 * 4096;
        buffer->memory = aligned_alloc(4096, (size_t)bytes);
        buffer->bytes = buffer->memory ? bytes : 0;
    }
    return buffer->memory;
}

/* How many of `threads` share the columns; the rest share the rows. Chosen so that the parts are
 * nearly square, since a part reads its rows of A and its columns of B. */
static int column_parts(int64_t m, int64_t n, int threads)
{
    int best = threads;
    double least = 0;
    for (int parts = 1; parts <= threads; parts++) {
        if (threads % parts)
            continue;
        double read = (double)m / (threads / parts) + (double)n / parts;
        if (parts == 1 || read < least) {
            least = read;
            best = parts;
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
