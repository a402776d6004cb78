/* Long loops and products poll now and then: whether a signal came, and whether the threads of a
 * loop have processors. Those that have none stand aside until the first calls them back. */
#include "../platform.h"
#include "../runtime.h"

#include <stdatomic.h>

/* Nanoseconds between polls, and the least after which the use of several threads is judged. */
#define BLOCK 10e6
#define JUDGE_AFTER 2000000
/* How many times as long a block may be as the one before. */
#define GROWTH 16

/* What stands where the step is to be at which threads come back. */
enum { NOT_YET = -2, NEVER = -1 };

/* Whether the threads were of use since this was asked last. */
static int are_of_use(tn_watch *watch, int64_t time, int threads)
{
    int64_t elapsed = time - watch->judged;
    if (elapsed < JUDGE_AFTER)
        return 1;
    int64_t waited = tn_waited() - watch->waited;
    watch->judged = time;
    watch->waited += waited;
    return tn_judge(elapsed, waited, threads);
}

/* Loops of several threads are one at a time, but calls from C may be many. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t called_back = PTHREAD_COND_INITIALIZER;

static void call_back(tn_watch *watch, int64_t step)
{
    pthread_mutex_lock(&mutex);
    watch->alone = 0;
    watch->resume = step;
    pthread_cond_broadcast(&called_back);
    pthread_mutex_unlock(&mutex);
}

void tn_dismiss(tn_watch *watch) { call_back(watch, NEVER); }

int64_t tn_stand_aside(tn_watch *watch)
{
    pthread_mutex_lock(&mutex);
    while (watch->resume == NOT_YET)
        pthread_cond_wait(&called_back, &mutex);
    int64_t step = watch->resume;
    pthread_mutex_unlock(&mutex);
    return step;
}

/* After a fork the child has this thread only: nobody else holds the lock or waits. */
static void forget_others(void)
{
    mutex = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    called_back = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
}

__attribute__((constructor)) static void watch_forks(void)
{
    tn_after_fork(forget_others);
}

static int64_t go_on_alone(tn_watch *watch)
{
    watch->alone = 1;
    watch->resume = NOT_YET;
    return TN_ALONE;
}

static int64_t go_on_together(tn_watch *watch, int64_t time, int64_t step)
{
    watch->polled = watch->judged = time;
    watch->waited = tn_waited();
    watch->block = 1;
    call_back(watch, step);
    return TN_TOGETHER;
}

/* The step of the next poll, or what is to be done now. */
static int64_t next_poll(tn_watch *watch, int64_t step, int threads)
{
    int64_t time = tn_now();
    /* a step was left in the middle, or what the loop is given was */
    if (tn_stopping && tn_interrupted())
        return TN_STOP;
    if (step == 0) {
        *watch = (tn_watch){time, time, time, tn_waited(), 2, 0, NOT_YET, {0}};
        return threads > 1 && tn_oversubscribed_for() ? go_on_alone(watch) : 2;
    }
    if (time - watch->asked >= TN_PATIENCE) {
        if (tn_interrupted())
            return TN_STOP;
        watch->asked = time = tn_now();
    }
    if (watch->alone && !tn_oversubscribed_for())
        return go_on_together(watch, time, step);
    if (threads > 1 && !are_of_use(watch, time, threads))
        return go_on_alone(watch);
    double factor = BLOCK / (double)(time - watch->polled + 1);
    double block = (double)watch->block * (factor < GROWTH ? factor : GROWTH);
    watch->block = block < 1 ? 1 : (int64_t)block;
    watch->polled = time;
    return step + watch->block;
}

int64_t tn_poll(tn_watch *watch, int64_t *turn, int64_t step, int thread, int threads)
{
    if (threads <= 1)
        return next_poll(watch, step, 1);
    /* Two results in turn: the next is written while a slow thread still reads the last. */
    int64_t *next = &watch->next_polls[(*turn)++ % 2];
    if (!thread)
        *next = next_poll(watch, step, threads);
    tn_barrier(threads);
    return *next;
}
