/* How many threads some work is worth. */
#include "../runtime.h"

#include <stdatomic.h>

/* Nanoseconds: what a thread must have to do in a phase to be worth a barrier, at least, and wherever the
 * processors are; and what a run must last to be worth waking a thread, and finding out where they are. */
#define LEAST_WORK 700.0
#define ENOUGH_WORK 4000.0
#define WORTH_WAKING 20000.0
#define WORTH_MEASURING 100000.0
/* How many times as long as a barrier its work must take: what the others made is fetched after it. */
#define WORK_OF_A_BARRIER 12.0
/* Below 0: as the threads wait for one another. */
static _Atomic(double) least_work = -1;

/* What each of several threads must have to do in a phase, of which there is so much in all. */
static double worth_a_barrier(double phase, double all, int threads)
{
    if (phase < 2 * LEAST_WORK || phase >= threads * ENOUGH_WORK)
        return ENOUGH_WORK;
    int64_t barrier = tn_barrier_time(threads, all >= WORTH_MEASURING);
    double work = WORK_OF_A_BARRIER * (double)barrier;
    return barrier < 0 || work > ENOUGH_WORK ? ENOUGH_WORK : work < LEAST_WORK ? LEAST_WORK : work;
}

int tn_threads_for(double nanoseconds, int64_t phases)
{
    int most = tn_max_threads();
    double each = atomic_load_explicit(&least_work, memory_order_relaxed);
    if (each == 0)
        return most;
    double all = nanoseconds * (double)phases;
    if (most < 2 || all < WORTH_WAKING || all < (double)tn_oversubscribed_for())
        return 1;
    if (each < 0)
        each = worth_a_barrier(nanoseconds, all, most);
    double threads = nanoseconds / each;
    return threads >= most ? most : threads < 2 ? 1 : (int)threads;
}

void tn_set_least_work(double nanoseconds)
{
    atomic_store_explicit(&least_work, nanoseconds, memory_order_relaxed);
}
