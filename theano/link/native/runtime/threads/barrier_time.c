/* How long a barrier of a loop's threads takes. It is measured, as it depends on where the processors are:
 * two took 80 nanoseconds, and 320 after their host had moved them. */
#include "../runtime.h"

#include <stdatomic.h>

/* Of several rounds the shortest counts, as the first one wakes threads. */
enum { ROUNDS = 3, MEETINGS = 12 };
/* Nanoseconds until it is measured again. */
#define KNOWN_FOR 100000000

static _Atomic(int64_t) measured_at, measured;

static void wait_for_all(void *context, int thread, int threads)
{
    int64_t *shortest = context;
    for (int round = 0; threads > 1 && round < ROUNDS; round++) {
        int64_t since = tn_now();
        for (int k = 0; k < MEETINGS; k++)
            tn_barrier(threads);
        int64_t each = (tn_now() - since) / MEETINGS;
        if (!thread && (*shortest < 0 || each < *shortest))
            *shortest = each;
    }
}

int64_t tn_barrier_time(int threads, int may_measure)
{
    int64_t at = atomic_load_explicit(&measured_at, memory_order_relaxed);
    if (at && tn_now() - at < KNOWN_FOR)
        return atomic_load_explicit(&measured, memory_order_relaxed);
    int64_t shortest = -1;
    if (may_measure)
        tn_pool_run(threads, wait_for_all, &shortest);
    if (shortest >= 0) {
        atomic_store_explicit(&measured, shortest, memory_order_relaxed);
        atomic_store_explicit(&measured_at, tn_now(), memory_order_relaxed);
    }
    return shortest;
}
