/* On which processor each of two threads of the pool begins its part of a run. */
#define _GNU_SOURCE
#include <sched.h>
#include <stdint.h>
#include <time.h>

static int began_on[2];

static int64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static void work(void *context, int thread, int threads)
{
    (void)context, (void)threads;
    began_on[thread] = sched_getcpu();
    /* longer than it takes to wake a thread */
    for (int64_t end = now() + 2000000; now() < end;) {
    }
}

/* How many of so many runs, each after a pause in which workers fall asleep, began on one processor. */
int runs_on_one_processor(void (*run)(int, void (*)(void *, int, int), void *), int runs)
{
    int found = 0;
    for (int k = 0; k < runs; k++) {
        nanosleep(&(struct timespec){0, 5000000}, 0);
        run(2, work, 0);
        found += began_on[0] == began_on[1];
    }
    return found;
}
