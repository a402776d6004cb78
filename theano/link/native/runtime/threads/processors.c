/* How many threads there may be. */
#if defined(__linux__)
#define _GNU_SOURCE
#endif
#include "../runtime.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

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
