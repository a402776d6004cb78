/* Whether other programs, or other libraries' threads, have the processors: one thread of a loop then
 * does more than several that wait for one another. */
#include "../runtime.h"

#include <stdatomic.h>

/* Nanoseconds of the first rest, since a library's threads spin for a tenth of a second after a product;
 * each further one is longer by as much, until threads have been of use for so long. */
#define FIRST_REST 15000000
#define MOST_RESTS 60
#define OF_USE 100000000
/* Of the waiting at which one thread would do the same, if all had equal parts: they have not. */
#define SHARE 0.7

static _Atomic(int64_t) oversubscribed_until, of_use;
static atomic_int rests;

void tn_set_oversubscribed(int64_t nanoseconds)
{
    atomic_store_explicit(&oversubscribed_until, tn_now() + nanoseconds, memory_order_relaxed);
}

int64_t tn_oversubscribed_for(void)
{
    int64_t until = atomic_load_explicit(&oversubscribed_until, memory_order_relaxed);
    int64_t left = until ? until - tn_now() : 0;
    return left > 0 ? left : 0;
}

/* They are of no use where they waited for one another for so much of the time that one would have
 * done as much. On a machine that is not shared they wait for microseconds. */
int tn_judge(int64_t elapsed, int64_t waited, int threads)
{
    double useless = SHARE * (double)elapsed * (threads - 1) * (threads - 1) / threads;
    if ((double)waited <= useless) {
        if (atomic_fetch_add_explicit(&of_use, elapsed, memory_order_relaxed) > OF_USE)
            atomic_store_explicit(&rests, 0, memory_order_relaxed);
        return 1;
    }
    atomic_store_explicit(&of_use, 0, memory_order_relaxed);
    int number = atomic_load_explicit(&rests, memory_order_relaxed);
    number += number < MOST_RESTS;
    atomic_store_explicit(&rests, number, memory_order_relaxed);
    tn_set_oversubscribed((int64_t)FIRST_REST * number);
    return 0;
}
