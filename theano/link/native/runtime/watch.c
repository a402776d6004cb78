/* Long loops and products look up now and then: whether a signal came, and whether the threads of a
 * loop have processors. */
#include "runtime.h"

#include <pthread.h>
#include <stdatomic.h>

/* Nanoseconds between looks at the clock; the least between questions to Python, each of which takes
 * its lock; and the least after which the use of several threads is judged. */
#define BLOCK 10e6
#define PATIENCE 20000000
#define JUDGE_AFTER 2000000
/* How many times as long a block may be as the one before. */
#define GROWTH 16

static struct tn_python python;
static _Atomic(int) ready;
static void *pending[3];

/* Whether the call that the main thread is in is to end, because a signal's handler raised. */
_Atomic(int32_t) tn_stopping;
/* Whether that call writes what must be written as a whole, and is not to end now. */
static int held;

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
    tn_stopping = 0;
}

/* Whether this thread is in a call that has nothing to do with Python. */
static _Thread_local int is_apart;

int tn_set_apart(int apart)
{
    int before = is_apart;
    is_apart = apart;
    return before;
}

int tn_is_main_thread(void)
{
    return !is_apart && atomic_load(&ready) && (uintptr_t)pthread_self() == python.main_thread;
}

/* Whether a signal's handler raised an exception; it is kept for tn_take_interrupt. */
static int interrupted(void)
{
    if (!tn_is_main_thread() || held)
        return 0;
    if (tn_stopping)
        return 1;
    int state = python.ensure();
    int raised = python.check_signals() != 0;
    if (raised)
        python.fetch(&pending[0], &pending[1], &pending[2]);
    python.release(state);
    return raised;
}

int tn_stops(void)
{
    if (!tn_is_main_thread())
        return tn_stopping && tn_serves_main_thread();
    if (tn_stopping && !held)
        return 1;
    /* of all work of the main thread, which may be many things that each take less */
    static int64_t asked;
    if (tn_now() - asked < PATIENCE)
        return 0;
    int stops = interrupted();
    if (stops)
        tn_stopping = 1;
    asked = tn_now();
    return stops;
}

int64_t tn_commit(void)
{
    if (!tn_is_main_thread())
        return 0;
    if (tn_stopping)
        return 1;
    held = 1;
    return 0;
}

void tn_committed(void)
{
    if (tn_is_main_thread())
        held = 0;
}

/* Whether threads spent so much of the time since the last judgement waiting for one another that
 * one would have done more. On a machine that is not shared they wait for microseconds. */
static int is_crowded(tn_watch *watch, int64_t time, int threads)
{
    int64_t elapsed = time - watch->judged;
    if (elapsed < JUDGE_AFTER)
        return 0;
    int64_t waited = tn_waited() - watch->waited;
    watch->judged = time;
    watch->waited += waited;
    return (double)waited * threads > (double)elapsed * (threads - 1) * (threads - 1);
}

/* The step at which to look up again, or TN_STOP or TN_ALONE. */
static int64_t next_look(tn_watch *watch, int64_t step, int threads)
{
    int64_t time = tn_now();
    /* a step was left in the middle, or what the loop is given was */
    if (tn_stopping && interrupted())
        return TN_STOP;
    if (step == 0) {
        *watch = (tn_watch){time, time, time, tn_waited(), 2, {0}};
        return 2;
    }
    if (time - watch->asked >= PATIENCE) {
        if (interrupted())
            return TN_STOP;
        watch->asked = time = tn_now();
    }
    if (threads > 1 && is_crowded(watch, time, threads)) {
        tn_set_crowded();
        return TN_ALONE;
    }
    double factor = BLOCK / (double)(time - watch->looked + 1);
    double block = (double)watch->block * (factor < GROWTH ? factor : GROWTH);
    watch->block = block < 1 ? 1 : (int64_t)block;
    watch->looked = time;
    return step + watch->block;
}

int64_t tn_look_up(tn_watch *watch, int64_t *turn, int64_t step, int thread, int threads)
{
    if (threads <= 1)
        return next_look(watch, step, 1);
    /* Two answers by turns: the next is written while a slow thread still reads the last. */
    int64_t *answer = &watch->answers[(*turn)++ % 2];
    if (!thread)
        *answer = next_look(watch, step, threads);
    tn_barrier(threads);
    return *answer;
}
