/* Ctrl-C during a long loop: the loop looks up now and then, and asks Python whether a signal came. */
#include "runtime.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

/* Nanoseconds between looks at the clock, and the least between questions to Python, each of which
 * takes its lock. */
#define BLOCK 10e6
#define PATIENCE 20e6
/* How many times as long a block may be as the one before. */
#define GROWTH 16

static struct tn_python python;
static _Atomic(int) ready;
static void *pending[3];

void tn_set_python(const struct tn_python *functions)
{
    python = *functions;
    atomic_store(&ready, 1);
}

void tn_take_interrupt(void **exception)
{
    for (int k = 0; k < 3; k++) {
        exception[k] = pending[k];
        pending[k] = 0;
    }
}

/* Whether a signal's handler raised an exception; it is kept for tn_take_interrupt. */
static int interrupted(void)
{
    if (!atomic_load(&ready) || (uintptr_t)pthread_self() != python.main_thread)
        return 0;
    int state = python.ensure();
    int raised = python.check_signals() != 0;
    if (raised)
        python.fetch(&pending[0], &pending[1], &pending[2]);
    python.release(state);
    return raised;
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

/* The step at which to look up again, or -1 to stop. */
static int64_t next_look(tn_watch *watch, int64_t step)
{
    double time = now();
    if (step == 0) {
        *watch = (tn_watch){.looked = time, .asked = time, .block = 2};
        return 2;
    }
    if (time - watch->asked >= PATIENCE) {
        if (interrupted())
            return -1;
        watch->asked = time = now();
    }
    double factor = BLOCK / (time - watch->looked + 1);
    double block = (double)watch->block * (factor < GROWTH ? factor : GROWTH);
    watch->block = block < 1 ? 1 : (int64_t)block;
    watch->looked = time;
    return step + watch->block;
}

int64_t tn_look_up(tn_watch *watch, int64_t *turn, int64_t step, int thread, int threads)
{
    if (threads <= 1)
        return next_look(watch, step);
    /* Two answers by turns: the next is written while a slow thread still reads the last. */
    int64_t *answer = &watch->answers[(*turn)++ % 2];
    if (!thread)
        *answer = next_look(watch, step);
    tn_barrier(threads);
    return *answer;
}
