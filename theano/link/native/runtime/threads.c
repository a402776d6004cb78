/* How many threads there may be, and how many some work is worth. */
#if defined(__linux__)
#define _GNU_SOURCE
#endif
#include "runtime.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Nanoseconds: what a thread must have to do in a phase to be worth meeting, at least, and wherever the
 * processors are; and what a run must last to be worth waking a thread, and finding out where they are. */
#define LEAST_WORK 700.0
#define ENOUGH_WORK 4000.0
#define WORTH_WAKING 20000.0
#define WORTH_MEASURING 100000.0
/* How many times as long as a meeting its work must take: what the others made is fetched after it. */
#define WORK_OF_A_MEETING 12.0
/* Below 0: as the threads meet. */
static _Atomic(double) least_work = -1;

/* 0: not set, or not yet looked up. */
static atomic_int threads_set, threads_default;

#if defined(__linux__)
/* Processors that the control group of this process pays for, or 0: no limit. */
static int processors_paid(void)
{
    double quota, period;
    FILE *file = fopen("/sys/fs/cgroup/cpu.max", "r");
    if (!file)
        return 0;
    int found = fscanf(file, "%lf %lf", &quota, &period);
    fclose(file);
    return found == 2 && period > 0 ? (int)(quota / period + 0.999) : 0;
}
#endif

static int processors(void)
{
    int count = 0;
#if defined(__linux__)
    cpu_set_t allowed;
    if (!sched_getaffinity(0, sizeof allowed, &allowed))
        count = CPU_COUNT(&allowed);
    int paid = processors_paid();
    if (paid > 0 && paid < count)
        count = paid;
#endif
    return count > 0 ? count : (int)sysconf(_SC_NPROCESSORS_ONLN);
}

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
    threads = bounded(asked > 0 ? asked : processors());
    atomic_store_explicit(&threads_default, threads, memory_order_relaxed);
    return threads;
}

void tn_set_threads(int threads)
{
    atomic_store_explicit(&threads_set, threads > 0 ? bounded(threads) : 0, memory_order_relaxed);
}

/* What each of several threads must have to do in a phase, of which there is so much in all. */
static double worth_meeting(double phase, double all, int threads)
{
    if (phase < 2 * LEAST_WORK || phase >= threads * ENOUGH_WORK)
        return ENOUGH_WORK;
    int64_t meeting = tn_meeting_time(threads, all >= WORTH_MEASURING);
    double work = WORK_OF_A_MEETING * (double)meeting;
    return meeting < 0 || work > ENOUGH_WORK ? ENOUGH_WORK : work < LEAST_WORK ? LEAST_WORK : work;
}

int tn_threads_for(double nanoseconds, int64_t phases)
{
    int most = tn_max_threads();
    double each = atomic_load_explicit(&least_work, memory_order_relaxed);
    if (each == 0)
        return most;
    double all = nanoseconds * (double)phases;
    if (most < 2 || all < WORTH_WAKING || all < (double)tn_crowded_for())
        return 1;
    if (each < 0)
        each = worth_meeting(nanoseconds, all, most);
    double threads = nanoseconds / each;
    return threads >= most ? most : threads < 2 ? 1 : (int)threads;
}

void tn_set_least_work(double nanoseconds)
{
    atomic_store_explicit(&least_work, nanoseconds, memory_order_relaxed);
}
