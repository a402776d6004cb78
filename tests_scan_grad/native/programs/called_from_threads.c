/* Calls a compiled function of one vector of float64 from threads, as a sampler does. */
#include "tn_function.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef int64_t (*caller)(const tn_function *function, const tn_given *inputs,
                          const tn_made *results);

struct thread {
    pthread_t thread;
    caller call;
    const tn_function *function;
    int64_t length, calls, bytes, failures, odd;
    const double *point;
    double *value, *gradient;
};

static void *calls(void *argument)
{
    struct thread *of = argument;
    double first, *again = malloc((size_t)of->bytes);
    int64_t told = 0;
    tn_given input = {of->point, &of->length};
    for (int64_t k = 0; k < of->calls; k++) {
        tn_made results[2] = {{&first, sizeof first, NULL}, {again, of->bytes, &told}};
        of->failures += of->call(of->function, &input, results) != TN_DONE;
        if (k == 0) {
            *of->value = first;
            memcpy(of->gradient, again, (size_t)of->bytes);
        }
        of->odd += first != *of->value || told != of->length
                   || memcmp(again, of->gradient, (size_t)of->bytes);
    }
    free(again);
    return NULL;
}

/* Calls a function so often in each of so many threads, each at its own point, from where the
 * points are. Answers how many calls failed or gave something else than the first. */
int64_t call_from_threads(caller call, const tn_function *function, int64_t threads,
                          int64_t times, int64_t length, const double *points, double *values,
                          double *gradients)
{
    struct thread *all = calloc((size_t)threads, sizeof *all);
    int64_t wrong = 0;
    for (int64_t k = 0; k < threads; k++) {
        all[k] = (struct thread){
            .call = call, .function = function, .length = length, .calls = times,
            .bytes = length * (int64_t)sizeof(double), .point = points + k * length,
            .value = values + k, .gradient = gradients + k * length,
        };
        wrong += pthread_create(&all[k].thread, NULL, calls, &all[k]) != 0;
    }
    for (int64_t k = 0; k < threads; k++) {
        pthread_join(all[k].thread, NULL);
        wrong += all[k].failures + all[k].odd;
    }
    free(all);
    return wrong;
}
