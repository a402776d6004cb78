/* A device for kernels on the host: each lane of each block is a thread. */
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* All lanes of a block wait for one another, and see whether a condition holds for one of them. */
typedef struct {
    pthread_mutex_t lock;
    pthread_cond_t all_here;
    int lanes, here, any, result;
    unsigned round;
    unsigned char *own;
} stand_in_block;

static inline int stand_in_wait(stand_in_block *block, int condition)
{
    pthread_mutex_lock(&block->lock);
    block->any |= condition != 0;
    const unsigned mine = block->round;
    if (++block->here == block->lanes) {
        block->here = 0, block->round++, block->result = block->any, block->any = 0;
        pthread_cond_broadcast(&block->all_here);
    } else {
        while (block->round == mine) pthread_cond_wait(&block->all_here, &block->lock);
    }
    const int result = block->result;
    pthread_mutex_unlock(&block->lock);
    return result;
}

static thread_local int tk_lane, tk_block;
static thread_local stand_in_block *tk_of_lane;
static thread_local unsigned char *tk_shared;

#define TK_KERNEL(name, lanes) static const int name##_lanes = lanes; static void name
#define TK_DEVICE inline __attribute__((unused))
#define TK_INLINE static TK_DEVICE
#define TK_LANE tk_lane
#define TK_BLOCK tk_block
#define TK_SHARED
#define TK_ALIGNED(bytes) alignas(bytes)
#define TK_UNROLL
#define TK_UNROLL_BY(count)
#define TK_SYNC stand_in_wait(tk_of_lane, 0);
#define TK_ANY(condition) stand_in_wait(tk_of_lane, condition)
#ifndef TK_PATIENCE
#define TK_PATIENCE (1 << 24)
#endif

/* Whether barriers order reads and writes; if not, blocks still wait, so that any run has the races. */
#ifndef TK_ORDERED
#define TK_ORDERED 1
#endif
#define TK_ORDER(order) (TK_ORDERED ? order : __ATOMIC_RELAXED)

TK_INLINE unsigned tk_seen(const unsigned *word) { return __atomic_load_n(word, TK_ORDER(__ATOMIC_ACQUIRE)); }
TK_INLINE void tk_arrive(unsigned *word) { __atomic_add_fetch(word, 1u, TK_ORDER(__ATOMIC_ACQ_REL)); }
TK_INLINE void tk_raise(unsigned *word) { __atomic_store_n(word, 1u, TK_ORDER(__ATOMIC_RELEASE)); }
TK_INLINE void tk_relax() { sched_yield(); }

typedef struct {
    const void *given;
    stand_in_block *of;
    int block, lane;
} stand_in_lane;

/* Runs a kernel: the arrays, their rows, the number of steps and the memory; absent blocks never arrive. */
#define STAND_IN_LAUNCH(name)                                                                    \
    static void *stand_in_run(void *argument)                                                    \
    {                                                                                            \
        const stand_in_lane *const lane = (const stand_in_lane *)argument;                       \
        tk_block = lane->block, tk_lane = lane->lane, tk_of_lane = lane->of;                     \
        tk_shared = lane->of->own;                                                               \
        name(*(const name##_given *)lane->given);                                                \
        return 0;                                                                                \
    }                                                                                            \
    extern "C" void launch_given(const void *given, int blocks, int absent, int64_t own_bytes)   \
    {                                                                                            \
        enum { lanes = name##_lanes };                                                           \
        const int present = blocks - absent;                                                     \
        stand_in_block *const all = (stand_in_block *)calloc(blocks, sizeof *all);               \
        stand_in_lane *const each = (stand_in_lane *)calloc(blocks * lanes, sizeof *each);       \
        pthread_t *const threads = (pthread_t *)calloc(blocks * lanes, sizeof *threads);         \
        for (int block = 0; block < present; block++) {                                          \
            pthread_mutex_init(&all[block].lock, 0);                                             \
            pthread_cond_init(&all[block].all_here, 0);                                          \
            all[block].lanes = lanes;                                                            \
            all[block].own = (unsigned char *)memset(malloc(own_bytes), 0xff, own_bytes);        \
        }                                                                                        \
        for (int k = 0; k < present * lanes; k++) {                                              \
            each[k].given = given, each[k].of = &all[k / lanes];                                 \
            each[k].block = k / lanes, each[k].lane = k % lanes;                                 \
            pthread_create(&threads[k], 0, stand_in_run, &each[k]);                              \
        }                                                                                        \
        for (int k = 0; k < present * lanes; k++) pthread_join(threads[k], 0);                   \
        for (int block = 0; block < present; block++) free(all[block].own);                      \
        free(all), free(each), free(threads);                                                    \
    }                                                                                            \
    extern "C" void launch(void **arrays, const int64_t *rows, int64_t count, int64_t steps,     \
                           int64_t *result, void *work, unsigned *barriers, int blocks,          \
                           int absent, int64_t own_bytes)                                        \
    {                                                                                            \
        name##_given given;                                                                      \
        for (int64_t k = 0; k < count; k++) given.arrays[k] = arrays[k], given.rows[k] = rows[k]; \
        given.steps = steps, given.result = result, given.work = (unsigned char *)work;          \
        given.barriers = (tk_barriers *)barriers;                                                \
        launch_given(&given, blocks, absent, own_bytes);                                         \
    }
