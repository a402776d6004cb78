/* The thread pool: workers that start when first needed, and live as long as the process. */
#if defined(__linux__)
#define _GNU_SOURCE
#endif
#include "runtime.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum {
    MOST_THREADS = 256,
    /* A waiting thread spins this often, then yields this often, then sleeps. */
    SPINS = 1000,
    YIELDS = 300,
};

/* What is written by different threads lies on different cache lines. */
static struct {
    /* 1 while a run uses the workers. */
    _Alignas(64) atomic_int busy;
    /* A count of runs above the number of threads of the last: one word, so that a worker which
     * has no part in a run learns so without reading what the next run may be writing. */
    _Alignas(64) atomic_uint run;
    void (*work)(void *context, int thread, int threads);
    void *context;
    /* Whether the main thread, which handles signals, waits for the run. */
    int for_main_thread;
    _Alignas(64) atomic_int running;
    _Alignas(64) atomic_int arrived;
    _Alignas(64) atomic_uint phase;
    _Alignas(64) atomic_int sleepers;
    pthread_mutex_t mutex;
    pthread_cond_t wake;
    atomic_int workers;
    /* Of the workers: their handles; guarded by the mutex, who sleeps, and who is woken elsewhere. */
    pthread_t handles[MOST_THREADS];
    char asleep[MOST_THREADS], moved[MOST_THREADS];
#if defined(__linux__)
    cpu_set_t allowed;
#endif
} pool = {.mutex = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER};

/* Nanoseconds: what a thread must have to do in a phase to be worth meeting, and what a run must
 * last to be worth waking a thread. */
#define LEAST_WORK 4000.0
#define WORTH_WAKING 20000.0
static _Atomic(double) least_work = LEAST_WORK;

/* Nanoseconds that threads waited at barriers for others that had no processor, in this process. */
static _Atomic(int64_t) waited;

/* 0: not set, or not yet looked up. */
static atomic_int threads_set, threads_default;

/* Whether this thread runs work of the pool now. */
static _Thread_local int inside;
/* Whether it is one of the pool's own. */
static _Thread_local int is_worker;

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
#if defined(__linux__)
    int mine = sched_getcpu();
    if (mine >= 0 && !sched_getaffinity(0, sizeof pool.allowed, &pool.allowed)) {
        cpu_set_t others = pool.allowed;
        CPU_CLR(mine, &others);
        for (int k = 0; CPU_COUNT(&others) && k < pool.workers; k++)
            if (pool.asleep[k])
                pool.moved[k] = !pthread_setaffinity_np(pool.handles[k], sizeof others, &others);
    }
#endif
    pthread_cond_broadcast(&pool.wake);
    pthread_mutex_unlock(&pool.mutex);
}

/* Sleep until there is another run. */
static unsigned sleep_until_run(int worker, unsigned seen)
{
    unsigned run;
    pthread_mutex_lock(&pool.mutex);
    /* The caller stores the run, then looks for sleepers; the order here is the other way round. */
    atomic_fetch_add(&pool.sleepers, 1);
    pool.asleep[worker] = 1;
    while ((run = atomic_load(&pool.run)) == seen)
        pthread_cond_wait(&pool.wake, &pool.mutex);
    pool.asleep[worker] = 0;
    atomic_fetch_sub(&pool.sleepers, 1);
#if defined(__linux__)
    int moved = pool.moved[worker];
    cpu_set_t allowed = pool.allowed;
    pool.moved[worker] = 0;
#endif
    pthread_mutex_unlock(&pool.mutex);
#if defined(__linux__)
    if (moved)
        pthread_setaffinity_np(pthread_self(), sizeof allowed, &allowed);
#endif
    return run;
}

static unsigned next_run(int worker, unsigned seen)
{
    for (int turn = 0;; turn++) {
        unsigned run = atomic_load(&pool.run);
        if (run != seen)
            return run;
        if (!keep_waiting(turn))
            return sleep_until_run(worker, seen);
    }
}

struct start {
    int thread;
    unsigned seen;
};

static void *worker(void *argument)
{
    struct start start = *(struct start *)argument;
    free(argument);
    inside = is_worker = 1;
    /* A new thread inherits its maker's mode. */
    tn_flush_denormals_end(0);
    for (;;) {
        start.seen = next_run(start.thread - 1, start.seen);
        int threads = (int)(start.seen % (MOST_THREADS * 2));
        if (start.thread < threads) {
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
    atomic_store(&pool.arrived, 0);
    atomic_store(&pool.sleepers, 0);
    pool.mutex = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    pool.wake = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
    pool.workers = 0;
    inside = is_worker = 0;
}

/* From when the library is loaded: another thread may fork while the first run begins. */
__attribute__((constructor)) static void watch_forks(void)
{
    pthread_atfork(NULL, NULL, forget_workers);
}

/* Starts workers until there are as many as asked for; returns how many there are. Signals stay
 * with the threads of the program. */
static int start_workers(int wanted)
{
    if (pool.workers >= wanted)
        return wanted;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (pool.workers < wanted) {
        struct start *start = malloc(sizeof *start);
        if (!start)
            break;
        *start = (struct start){pool.workers + 1, atomic_load(&pool.run)};
        pthread_t thread;
        if (pthread_create(&thread, NULL, worker, start)) {
            free(start);
            break;
        }
        pthread_detach(thread);
        pool.handles[pool.workers++] = thread;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return pool.workers < wanted ? pool.workers : wanted;
}

void tn_pool_run(int threads, void (*work)(void *context, int thread, int threads),
                 void *context)
{
    int most = tn_max_threads();
    if (threads > most)
        threads = most;
    int idle = 0;
    if (threads <= 1 || inside || !atomic_compare_exchange_strong(&pool.busy, &idle, 1)) {
        work(context, 0, 1);
        return;
    }
    threads = start_workers(threads - 1) + 1;
    inside = 1;
    if (threads > 1) {
        pool.work = work;
        pool.context = context;
        pool.for_main_thread = tn_is_main_thread();
        atomic_store(&pool.running, threads - 1);
        unsigned count = atomic_load(&pool.run) / (MOST_THREADS * 2) + 1;
        atomic_store(&pool.run, count * (MOST_THREADS * 2) + (unsigned)threads);
        if (atomic_load(&pool.sleepers))
            wake_workers();
    }
    work(context, 0, threads);
    if (threads > 1)
        for (int turn = 0; atomic_load_explicit(&pool.running, memory_order_acquire); turn++)
            keep_waiting(turn);
    inside = 0;
    atomic_store(&pool.busy, 0);
}

int tn_set_alone(int alone)
{
    int before = inside;
    inside = alone;
    return before;
}

int tn_serves_main_thread(void) { return is_worker && pool.for_main_thread; }

/* Counts phases, which stands for the sense that a sense-reversing barrier keeps a thread. Only one
 * run has several threads at a time, so one barrier serves all. */
void tn_barrier(int threads)
{
    if (threads <= 1)
        return;
    unsigned phase = atomic_load_explicit(&pool.phase, memory_order_relaxed);
    if (atomic_fetch_add_explicit(&pool.arrived, 1, memory_order_acq_rel) == threads - 1) {
        atomic_store_explicit(&pool.arrived, 0, memory_order_relaxed);
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

int64_t tn_now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

int64_t tn_waited(void) { return atomic_load_explicit(&waited, memory_order_relaxed); }

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
    return threads < 1 ? 1 : threads > MOST_THREADS ? MOST_THREADS : (int)threads;
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

int tn_threads_for(double nanoseconds, int64_t phases)
{
    int most = tn_max_threads();
    double each = atomic_load_explicit(&least_work, memory_order_relaxed);
    if (each <= 0)
        return most;
    double all = nanoseconds * (double)phases;
    if (all < WORTH_WAKING || all < (double)tn_crowded_for())
        return 1;
    double threads = nanoseconds / each;
    return threads >= most ? most : threads < 2 ? 1 : (int)threads;
}

void tn_set_least_work(double nanoseconds)
{
    atomic_store_explicit(&least_work, nanoseconds < 0 ? LEAST_WORK : nanoseconds,
                          memory_order_relaxed);
}

int tn_pool_workers(void) { return pool.workers; }
