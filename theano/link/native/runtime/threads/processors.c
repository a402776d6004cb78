/* How many threads there may be. */
#include "../platform.h"
#include "../runtime.h"

#include <stdatomic.h>
#include <stdlib.h>

/* 0: not set, or not yet looked up. */
static atomic_int threads_set, threads_default;

static int bounded(long threads)
{
    return threads < 1 ? 1 : threads > TN_MOST_THREADS ? TN_MOST_THREADS : (int)threads;
}

int tn_max_threads(void)
{
    int threads = atomic_load_explicit(&threads_set, memory_order_relaxed);
    if (threads > 0)
        return threads;
    threads = atomic_load_explicit(&threads_default, memory_order_relaxed);
    if (threads > 0)
        return threads;
    const char *text = getenv("OMP_NUM_THREADS");
    long asked = text ? strtol(text, NULL, 10) : 0;
    threads = bounded(asked > 0 ? asked : tn_processors());
    atomic_store_explicit(&threads_default, threads, memory_order_relaxed);
    return threads;
}

void tn_set_threads(int threads)
{
    atomic_store_explicit(&threads_set, threads > 0 ? bounded(threads) : 0, memory_order_relaxed);
}
