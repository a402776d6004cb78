/* Runs the whole runtime, for the sanitizers: sizes around the tiles, threads, forks.
 * Exits with 0 where every result is right. */
#define _GNU_SOURCE
#include "runtime.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int failures;

/* Linked in place of aligned_alloc to have products go on without memory for their blocks. */
void *__wrap_aligned_alloc(size_t alignment, size_t bytes);
void *__wrap_aligned_alloc(size_t alignment, size_t bytes)
{
    (void)alignment, (void)bytes;
    return NULL;
}

static void expect(int holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "wrong: %s (%s)\n", what, tn_kernels_name());
        failures++;
    }
}

/* Arrays are allocated to their size, so that a read or write past the end is seen. */
#define CHECK_PRODUCTS(suffix, real)                                                              \
    static void check_product_##suffix(int64_t m, int64_t n, int64_t k, int transposed, int beta) \
    {                                                                                             \
        real *a = malloc((size_t)(m * k) * sizeof *a), *b = malloc((size_t)(k * n) * sizeof *b);  \
        real *c = malloc((size_t)(m * n) * sizeof *c), *d = malloc((size_t)(m * n) * sizeof *d);  \
        real *packed = malloc((size_t)tn_packed_size_##suffix(k, n));                             \
        for (int64_t i = 0; i < m * k; i++)                                                       \
            a[i] = (real)(i * 7 % 11 - 5);                                                        \
        for (int64_t i = 0; i < k * n; i++)                                                       \
            b[i] = (real)(i * 5 % 13 - 6);                                                        \
        for (int64_t i = 0; i < m * n; i++)                                                       \
            c[i] = beta ? (real)i : (real)NAN, d[i] = (real)NAN;                                  \
        int64_t ar = transposed ? 1 : k, ac = transposed ? m : 1;                                 \
        int64_t br = transposed ? 1 : n, bc = transposed ? k : 1;                                 \
        int64_t width = tn_panel_width_##suffix(), panels = (n + width - 1) / width;              \
        tn_pack_b_##suffix(b, br, bc, k, n, packed);                                              \
        tn_gemm_packed_##suffix(m, n, k, a, ar, ac, packed, (real)beta, c, n, 0, panels / 2);     \
        tn_gemm_packed_##suffix(m, n, k, a, ar, ac, packed, (real)beta, c, n, panels / 2,         \
                                panels);                                                          \
        tn_gemm_##suffix(m, n, k, a, ar, ac, b, br, bc, d, n);                                    \
        int same = 1;                                                                             \
        for (int64_t i = 0; i < m; i++)                                                           \
            for (int64_t j = 0; j < n; j++) {                                                     \
                real before = beta ? (real)(i * n + j) : 0, sum = 0;                              \
                for (int64_t p = 0; p < k; p++)                                                   \
                    sum += a[i * ar + p * ac] * b[p * br + j * bc];                               \
                same &= c[i * n + j] == before + sum && d[i * n + j] == sum;                      \
            }                                                                                     \
        expect(same, "product " #suffix);                                                         \
        free(a), free(b), free(c), free(d), free(packed);                                         \
    }
CHECK_PRODUCTS(f32, float)
CHECK_PRODUCTS(f64, double)

static void check_activations(void)
{
    for (int64_t n = 0; n < 40; n++) {
        float *x = malloc((size_t)n * sizeof *x);
        double *y = malloc((size_t)n * sizeof *y);
        for (int64_t i = 0; i < n; i++)
            y[i] = x[i] = (float)(i - 20) * 9.7f;
        tn_tanh_f32(n, x, x);
        tn_tanh_f64(n, y, y);
        int close = 1;
        for (int64_t i = 0; i < n; i++)
            close &= fabs(x[i] - y[i]) < 1e-6;
        expect(close, "tanh");
        float special[] = {0, -0.f, INFINITY, -INFINITY, NAN, 1e-40f, 3e38f, -3e38f};
        void (*const functions[])(int64_t, const float *, float *) = {
            tn_exp_f32,  tn_expm1_f32,   tn_log_f32,      tn_log1p_f32,
            tn_tanh_f32, tn_sigmoid_f32, tn_softplus_f32,
        };
        float out[8];
        for (int f = 0; f < 7; f++) {
            functions[f](8, special, out);
            expect(isnan(out[4]), "NaN");
        }
        free(x), free(y);
    }
}

struct turns {
    int count[64];
    int rounds, wrong;
};

/* Every thread writes its place, and reads its neighbour's after the barrier. */
static void take_turns(void *context, int thread, int threads)
{
    struct turns *turns = context;
    for (int round = 1; round <= turns->rounds; round++) {
        turns->count[thread] = round;
        tn_barrier(threads);
        if (turns->count[(thread + 1) % threads] != round)
            turns->wrong = 1;
        tn_barrier(threads);
    }
}

/* Each part counts in its own place, some longer than others. */
static void count_part(void *context, int part, int parts)
{
    struct turns *turns = context;
    for (volatile int k = 0; k < 1000 * (part % 3); k++)
        ;
    turns->count[part]++;
    if (part == 0)
        turns->rounds = parts;
}

static void *many_runs(void *unused)
{
    (void)unused;
    for (int run = 0; run < 200; run++) {
        struct turns shared = {.rounds = 0};
        tn_pool_share(run % 4 + 1, count_part, &shared);
        for (int part = 0; part < 64; part++)
            if (shared.count[part] != (part < shared.rounds))
                return "wrong";
        struct turns turns = {.rounds = 5};
        tn_pool_run(run % 4 + 1, take_turns, &turns);
        if (turns.wrong || turns.count[0] != 5)
            return "wrong";
    }
    return NULL;
}

static void check_pool(void)
{
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, many_runs, NULL);
    for (int i = 0; i < 3; i++) {
        void *said;
        pthread_join(threads[i], &said);
        expect(!said, "pool");
    }
}

static void check_fork(void)
{
    pid_t child = fork();
    if (!child) {
        int started = tn_pool_workers();
        _exit(started == 0 && !many_runs(NULL) && tn_pool_workers() > 0 ? 0 : 1);
    }
    int status = 1;
    waitpid(child, &status, 0);
    expect(WIFEXITED(status) && !WEXITSTATUS(status), "fork");
}

int main(int count, char **arguments)
{
    static const char *const families[] = {"avx512", "avx2", "neon", "portable"};
    static const int64_t sizes[] = {0, 1, 2, 3, 7, 8, 9, 12, 13, 15, 16, 17, 31, 32, 33, 65};
    const int64_t most = sizeof sizes / sizeof *sizes;
    tn_set_threads(4);
    for (int f = 0; f < 4; f++) {
        if (!tn_select_kernels(families[f]))
            continue;
        for (int64_t i = 0; i < most; i++)
            for (int64_t j = 0; j < most; j++) {
                int64_t k = sizes[(i * 3 + j * 5) % most];
                check_product_f32(sizes[i], sizes[j], k, (i + j) % 2, (int)(i % 2));
                check_product_f64(sizes[i], sizes[j], k, (i + j) % 2, (int)(i % 2));
            }
        check_product_f32(130, 131, 270, 0, 1);
        check_product_f64(130, 131, 270, 1, 0);
        check_product_f32(150, 520, 512, 0, 0);
        check_product_f64(90, 270, 256, 1, 1);
        check_product_f32(1, 700, 600, 0, 0);
        check_product_f32(700, 1, 600, 1, 1);
        check_activations();
    }
    check_pool();
    /* more threads than arrive at a barrier on one line, and on one line of lines */
    for (int threads = 6; threads < 19; threads += 12) {
        struct turns turns = {.rounds = 50};
        tn_set_threads(threads);
        tn_pool_run(threads, take_turns, &turns);
        expect(!turns.wrong && turns.count[threads - 1] == 50, "barrier of many");
    }
    tn_set_threads(4);
    expect(tn_barrier_time(4, 1) >= 0, "barrier");
    /* ThreadSanitizer does not follow threads that a child starts after a fork. */
    if (count < 2 || strcmp(arguments[1], "without-fork"))
        check_fork();
    return failures != 0;
}
