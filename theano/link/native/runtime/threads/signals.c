/* Python signals: a call of the main thread ends where a handler raised. */
#include "../platform.h"
#include "../runtime.h"

#include <stdatomic.h>

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

/* Whether this thread is a worker that does work of the main thread's. */
static _Thread_local int works_for_main_thread;

void tn_work_for_main_thread(int works) { works_for_main_thread = works; }

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
    return !is_apart && atomic_load(&ready) && tn_thread_number() == python.main_thread;
}

int tn_interrupted(void)
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

/* Nanoseconds between questions to Python. */
static int64_t patience = TN_PATIENCE;

void tn_set_patience(int64_t nanoseconds)
{
    patience = nanoseconds < 0 ? TN_PATIENCE : nanoseconds;
}

/* Polls of all threads that returned 1: work that ignored it would poll again and again. */
static _Atomic(int64_t) stops_polled;

int64_t tn_stops_polled(void) { return stops_polled; }

static int stop(void)
{
    atomic_fetch_add_explicit(&stops_polled, 1, memory_order_relaxed);
    return 1;
}

int tn_stops(void)
{
    if (!tn_is_main_thread())
        return tn_stopping && works_for_main_thread ? stop() : 0;
    if (tn_stopping && !held)
        return stop();
    /* of all work of the main thread, which may be many things that each take less */
    static int64_t asked;
    if (tn_now() - asked < patience)
        return 0;
    int stops = tn_interrupted();
    if (stops)
        tn_stopping = 1;
    asked = tn_now();
    return stops ? stop() : 0;
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
