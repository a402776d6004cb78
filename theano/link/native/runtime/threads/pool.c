/* The thread pool: workers that start when first needed, and live as long as the process. */
#include "../platform.h"
#include "../runtime.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

enum {
    /* A waiting thread spins this often, then yields this often, then sleeps. */
    SPINS = 1000,
    YIELDS = 300,
    /* Into how many parts the work of a thread is cut where others have the processors, too. */
    FINE_PARTS = 4,
    /* Runs that are cut so after one in which a thread came late. They are counted, not timed: short ones
     * lose more by the parts' sizes than they gain, and what made one thread late is over soon. */
    FINE_RUNS = 16,
    /* How many threads arrive at a barrier on one line of memory, and how many lines there are for all. */
    ARRIVALS = 4,
    LINES = (TN_MOST_THREADS / ARRIVALS) * ARRIVALS / (ARRIVALS - 1),
};
/* A run in one word, so that a worker which has no part in it learns so without reading what the next run
 * may be writing: how many threads, whether they take parts, which are small, and the count of runs. A
 * part that was taken is marked by the run's word with TAKEN. */
enum { THREADS = 511, SHARED = 512, FINE = 1024, TAKEN = 2048, NEXT = 4096 };

struct line {
    _Alignas(64) atomic_int arrived;
};

/* What is written by different threads lies on different cache lines. */
static struct {
    /* 1 while a run uses the workers. */
    _Alignas(64) atomic_int busy;
    _Alignas(64) _Atomic(uint64_t) run;
    void (*work)(void *context, int thread, int threads);
    void *context;
    /* Whether the main thread, which handles signals, waits for the run. */
    int for_main_thread;
    /* Threads of a run, or parts of one that are to be taken, that are not done. */
    _Alignas(64) atomic_int running;
    /* Of which run each part is, and whether it was taken. */
    _Alignas(64) _Atomic(uint64_t) parts[TN_MOST_THREADS * FINE_PARTS];
    struct line lines[LINES];
    _Alignas(64) atomic_uint phase;
    _Alignas(64) atomic_int sleepers;
    pthread_mutex_t mutex;
    pthread_cond_t wake;
    atomic_int workers;
    /* Of the workers: their handles; guarded by the mutex, who sleeps, and who is woken elsewhere. */
    pthread_t handles[TN_MOST_THREADS];
    char asleep[TN_MOST_THREADS], moved[TN_MOST_THREADS];
    tn_processor_set allowed;
} pool = {.mutex = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER};

/* Nanoseconds that threads waited at barriers for others that had no processor, in this process. */
static _Atomic(int64_t) waited;

/* Runs that are still cut finely. */
static atomic_int fine_runs;

/* Whether this thread runs work of the pool now, and which thread of a run it is. */
static _Thread_local int inside, number;

static void relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* One turn of waiting; returns 0 when it is time to sleep. */
static int keep_waiting(int turn)
{
    if (turn < SPINS) {
        relax();
        return 1;
    }
    sched_yield();
    return turn < SPINS + YIELDS;
}

/* Wake those that sleep, on other processors than this thread's. Some systems wake a thread where the one
 * that calls it runs, and there it begins when that is done: with two processors, a millisecond of work for
 * both took 1.9, as on one. Once awake, a thread may be moved anywhere again. */
static void wake_workers(void)
{
    pthread_mutex_lock(&pool.mutex);
    tn_processor_set others;
    if (tn_other_processors(&pool.allowed, &others))
        for (int k = 0; k < pool.workers; k++)
            if (pool.asleep[k])
                pool.moved[k] = (char)tn_keep_to_processors(pool.handles[k], &others);
    pthread_cond_broadcast(&pool.wake);
    pthread_mutex_unlock(&pool.mutex);
}

/* Sleep until there is another run. */
static uint64_t sleep_until_run(int worker, uint64_t seen)
{
    uint64_t run;
    pthread_mutex_lock(&pool.mutex);
    /* The caller stores the run, then looks for sleepers; the order here is the other way round. */
    atomic_fetch_add(&pool.sleepers, 1);
    pool.asleep[worker] = 1;
    while ((run = atomic_load(&pool.run)) == seen)
        pthread_cond_wait(&pool.wake, &pool.mutex);
    pool.asleep[worker] = 0;
    atomic_fetch_sub(&pool.sleepers, 1);
    int moved = pool.moved[worker];
    tn_processor_set allowed = pool.allowed;
    pool.moved[worker] = 0;
    pthread_mutex_unlock(&pool.mutex);
    if (moved)
        tn_keep_to_processors(pthread_self(), &allowed);
    return run;
}

static uint64_t next_run(int worker, uint64_t seen)
{
    for (int turn = 0;; turn++) {
        uint64_t run = atomic_load(&pool.run);
        if (run != seen)
            return run;
        if (!keep_waiting(turn))
            return sleep_until_run(worker, seen);
    }
}

struct start {
    int thread;
    uint64_t seen;
};

/* ---- Parts that are taken. ---- */

static int parts_of(uint64_t run) { return (int)(run & THREADS) * (run & FINE ? FINE_PARTS : 1); }

/* Do a part of a run unless another thread has taken it. Of a run that is over, none can be taken; and none
 * is over while a part is being done. Returns whether it was done. */
static int do_part(uint64_t run, int part, int thread)
{
    uint64_t offered = run;
    if (!atomic_compare_exchange_strong(&pool.parts[part], &offered, run | TAKEN))
        return 0;
    if (thread)
        tn_work_for_main_thread(pool.for_main_thread);
    pool.work(pool.context, part, parts_of(run));
    atomic_fetch_sub_explicit(&pool.running, 1, memory_order_release);
    return 1;
}

/* Do the parts meant for a thread from the first on, then those for the others from the last on. Returns
 * how many were done. */
static int do_parts(uint64_t run, int thread)
{
    int threads = (int)(run & THREADS), each = parts_of(run) / threads, done = 0;
    for (int k = 0; k < each; k++)
        done += do_part(run, thread * each + k, thread);
    for (int d = 1; d < threads; d++)
        for (int k = each - 1; k >= 0; k--)
            done += do_part(run, (thread + d) % threads * each + k, thread);
    return done;
}

static void *worker(void *argument)
{
    struct start start = *(struct start *)argument;
    free(argument);
    inside = 1;
    number = start.thread;
    /* A new thread inherits its maker's mode. */
    tn_flush_denormals_end(0);
    for (;;) {
        start.seen = next_run(start.thread - 1, start.seen);
        int threads = (int)(start.seen & THREADS);
        if (start.thread < threads && start.seen & SHARED) {
            do_parts(start.seen, start.thread);
        } else if (start.thread < threads) {
            tn_work_for_main_thread(pool.for_main_thread);
            pool.work(pool.context, start.thread, threads);
            atomic_fetch_sub_explicit(&pool.running, 1, memory_order_release);
        }
    }
    return NULL;
}

/* After a fork the child has this thread only: no workers, and locks that nobody holds. */
static void forget_workers(void)
{
    atomic_store(&pool.busy, 0);
    atomic_store(&pool.running, 0);
    for (int k = 0; k < LINES; k++)
        atomic_store(&pool.lines[k].arrived, 0);
    atomic_store(&pool.sleepers, 0);
    pool.mutex = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    pool.wake = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
    pool.workers = 0;
    inside = number = 0;
    tn_work_for_main_thread(0);
}

/* From when the library is loaded: another thread may fork while the first run begins. */
__attribute__((constructor)) static void watch_forks(void)
{
    tn_after_fork(forget_workers);
}

/* Starts workers until there are as many as asked for; returns how many there are. */
static int start_workers(int wanted)
{
    if (pool.workers >= wanted)
        return wanted;
    while (pool.workers < wanted) {
        struct start *start = malloc(sizeof *start);
        if (!start)
            break;
        *start = (struct start){pool.workers + 1, atomic_load(&pool.run)};
        pthread_t thread;
        if (tn_start_thread(&thread, worker, start)) {
            free(start);
            break;
        }
        pthread_detach(thread);
        pool.handles[pool.workers++] = thread;
    }
    return pool.workers < wanted ? pool.workers : wanted;
}

/* How many threads a run gets, of which the caller is one. With one, the pool is left alone. */
static int begin(int threads)
{
    int most = tn_max_threads(), idle = 0;
    if (threads > most)
        threads = most;
    if (threads <= 1 || inside || !atomic_compare_exchange_strong(&pool.busy, &idle, 1))
        return 1;
    threads = start_workers(threads - 1) + 1;
    if (threads <= 1)
        atomic_store(&pool.busy, 0);
    else
        inside = 1;
    return threads;
}

/* Offer work to the workers; returns the word of the run. */
static uint64_t offer(uint64_t kind, int count, void (*work)(void *context, int thread, int threads),
                      void *context)
{
    uint64_t run = (atomic_load(&pool.run) / NEXT + 1) * NEXT + kind;
    pool.work = work;
    pool.context = context;
    pool.for_main_thread = tn_is_main_thread();
    atomic_store(&pool.running, count);
    for (int part = 0; kind & SHARED && part < count; part++)
        atomic_store_explicit(&pool.parts[part], run, memory_order_relaxed);
    atomic_store(&pool.run, run);
    if (atomic_load(&pool.sleepers))
        wake_workers();
    return run;
}

static void end(void)
{
    for (int turn = 0; atomic_load_explicit(&pool.running, memory_order_acquire); turn++)
        keep_waiting(turn);
    inside = 0;
    atomic_store(&pool.busy, 0);
}

void tn_pool_run(int threads, void (*work)(void *context, int thread, int threads),
                 void *context)
{
    threads = begin(threads);
    if (threads > 1)
        offer((uint64_t)threads, threads - 1, work, context);
    work(context, 0, threads);
    if (threads > 1)
        end();
}

void tn_pool_share(int threads, void (*work)(void *context, int part, int parts), void *context)
{
    threads = begin(threads);
    if (threads <= 1) {
        work(context, 0, 1);
        return;
    }
    int64_t since = tn_now();
    int left = atomic_load_explicit(&fine_runs, memory_order_relaxed), fine = left > 0;
    uint64_t kind = (uint64_t)threads | SHARED | (fine ? FINE : 0);
    int parts = parts_of(kind), mine = do_parts(offer(kind, parts, work, context), 0);
    int64_t done = tn_now();
    end();
    /* Another thread was late, or did not come. One fine part more than the others is nobody's fault. */
    int64_t over = tn_now();
    int late = 4 * (over - done) > over - since || mine > parts / threads + fine;
    atomic_store_explicit(&fine_runs, late ? FINE_RUNS : left - fine, memory_order_relaxed);
}

int tn_set_alone(int alone)
{
    int before = inside;
    inside = alone;
    return before;
}

/* Arrive on a line; returns whether all of its members have, and leaves it for the next barrier. */
static int is_last(struct line *line, int members)
{
    if (atomic_fetch_add_explicit(&line->arrived, 1, memory_order_acq_rel) != members - 1)
        return 0;
    atomic_store_explicit(&line->arrived, 0, memory_order_relaxed);
    return 1;
}

/* Arrive at a barrier; returns whether all have. Threads arrive in fours, each four on its own line, and the
 * last of a four goes on to the line of four fours: what many threads write to one line goes from one to the
 * next of them. */
static int arrive(int threads)
{
    struct line *lines = pool.lines;
    if (threads <= ARRIVALS)
        return is_last(lines, threads);
    for (int at = number, left = threads; left > 1; at /= ARRIVALS) {
        int fours = (left + ARRIVALS - 1) / ARRIVALS, four = at / ARRIVALS;
        int members = left - four * ARRIVALS < ARRIVALS ? left - four * ARRIVALS : ARRIVALS;
        if (!is_last(&lines[four], members))
            return 0;
        lines += fours;
        left = fours;
    }
    return 1;
}

/* Counts phases, which stands for the sense that a sense-reversing barrier keeps a thread. Only one
 * run has several threads at a time, so one barrier serves all. */
void tn_barrier(int threads)
{
    if (threads <= 1)
        return;
    unsigned phase = atomic_load_explicit(&pool.phase, memory_order_relaxed);
    if (arrive(threads)) {
        atomic_store_explicit(&pool.phase, phase + 1, memory_order_release);
        return;
    }
    int64_t since = 0;
    for (int turn = 0; atomic_load_explicit(&pool.phase, memory_order_acquire) == phase; turn++) {
        keep_waiting(turn);
        if (turn == SPINS / 4)
            since = tn_now();
    }
    if (since)
        atomic_fetch_add_explicit(&waited, tn_now() - since, memory_order_relaxed);
}

int64_t tn_waited(void) { return atomic_load_explicit(&waited, memory_order_relaxed); }

int tn_pool_workers(void) { return pool.workers; }
