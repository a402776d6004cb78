/* Runs one generated loop on one thread and on several, for sanitizers and for other processors: exits with
 * 0 where the results are the same bytes, and prints a hash of them. loop.inc defines LOOP, ARRAYS, NUMBERS, KINDS and COUNTS. */
#include "loop.inc"
#include "platform.h"
#include "runtime.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int64_t size_of(char kind) { return kind == 'f' ? 4 : 8; }

static void *made(char kind, int64_t count, uint64_t seed)
{
    void *array = malloc((size_t)(count * size_of(kind)));
    for (int64_t i = 0; i < count; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        const double number = (double)(seed >> 40) / (1 << 24) - 0.5;
        if (kind == 'f') ((float *)array)[i] = (float)number;
        if (kind == 'd') ((double *)array)[i] = number;
        if (kind == 'l') ((int64_t *)array)[i] = (int64_t)(seed >> 62) - 2;
    }
    return array;
}

static int64_t run(const tn_runtime *table, int threads, void **arrays)
{
    int64_t numbers[sizeof NUMBERS / sizeof *NUMBERS], result[64];
    memcpy(numbers, NUMBERS, sizeof numbers);
    arrays[0] = (void *)table;
    for (int k = 0; k < ARRAYS; k++)
        arrays[2 + k] = made(KINDS[k], COUNTS[k], (uint64_t)k + 1);
    tn_set_threads(threads);
    tn_set_least_work(0);
    int64_t status = LOOP(numbers, arrays, result);
    if (status) return status;
    void *work = tn_allocate_aligned(64, (size_t)(result[1] + 64) / 64 * 64);
    arrays[1] = work;
    numbers[0] = 1;
    status = LOOP(numbers, arrays, result);
    tn_free_aligned(work);
    return status;
}

int main(void)
{
    static void *const addresses[] = {TABLE};
    tn_runtime table;
    memcpy(&table, addresses, sizeof table);
    void *alone[2 + ARRAYS], *shared[2 + ARRAYS];
    int64_t status = run(&table, 1, alone);
    int failures = status != 0;
    if (status) fprintf(stderr, "status %ld\n", (long)status);
    /* six arrive at barriers on two lines, and may share rows in groups */
    static const int counts_of_threads[] = {2, 3, 6};
    for (int n = 0; n < 3; n++) {
        const int threads = counts_of_threads[n];
        failures += run(&table, threads, shared) != 0;
        for (int k = 0; k < ARRAYS; k++) {
            const size_t bytes = (size_t)(COUNTS[k] * size_of(KINDS[k]));
            if (memcmp(alone[2 + k], shared[2 + k], bytes)) {
                fprintf(stderr, "array %d differs on %d threads\n", k, threads);
                failures++;
            }
            free(shared[2 + k]);
        }
    }
    uint64_t hash = 14695981039346656037u;
    for (int k = 0; k < ARRAYS; k++) {
        for (int64_t i = 0; i < COUNTS[k] * size_of(KINDS[k]); i++)
            hash = (hash ^ ((unsigned char *)alone[2 + k])[i]) * 1099511628211u;
        free(alone[2 + k]);
    }
    printf("%llx\n", (unsigned long long)hash);
    return failures != 0;
}
