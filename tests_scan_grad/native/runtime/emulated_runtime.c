/* Calls functions of the runtime for another process: requests come from the standard input, answers go
 * to the standard output. functions.inc has FUNCTION(name) for each, in the order that requests count. */
#include "runtime.h"

#include <stdio.h>
#include <stdlib.h>
#if defined(_WIN32)
#include <fcntl.h>
#include <io.h>
#endif

enum { NUMBER, REAL, MEMORY, SAME, MOST = 12 };

static void *const functions[] = {
#define FUNCTION(name) (void *)name,
#include "functions.inc"
};

/* What an argument is, and its value; of memory its bytes, which follow; of the same memory, which it is. */
typedef struct {
    int64_t kind, value;
} argument;

/* A float is passed as the lower half of a register, and what a function does not take it does not see. On
 * Windows a number has its place among all arguments, and from the fifth on that is in memory. */
typedef int64_t (*any_function)(int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t,
                                int64_t, int64_t, int64_t, int64_t, int64_t, double);

static void take(void *memory, int64_t bytes)
{
    if (bytes && fread(memory, (size_t)bytes, 1, stdin) != 1)
        exit(1);
}

static void give(const void *memory, int64_t bytes)
{
    if (bytes && fwrite(memory, (size_t)bytes, 1, stdout) != 1)
        exit(1);
}

int main(void)
{
#if defined(_WIN32)
    _setmode(_fileno(stdin), _O_BINARY), _setmode(_fileno(stdout), _O_BINARY);
#endif
    int64_t request[2];
    while (fread(request, sizeof request, 1, stdin) == 1) {
        argument given[MOST];
        int64_t w[MOST] = {0}, count = request[1];
        double real = 0;
        void *memory[MOST] = {0};
        take(given, count * (int64_t)sizeof *given);
        int64_t words = 0;
        for (int64_t k = 0; k < count; k++) {
#if !defined(_WIN32)
            if (given[k].kind == REAL) {
                __builtin_memcpy(&real, &given[k].value, sizeof real);
                continue;
            }
#endif
            if (given[k].kind == MEMORY) {
                memory[k] = malloc((size_t)given[k].value + 1);
                take(memory[k], given[k].value);
                w[words++] = (int64_t)memory[k];
            } else
                w[words++] = given[k].kind == SAME ? (int64_t)memory[given[k].value]
                                                   : given[k].value;
        }
        int64_t result = ((any_function)functions[request[0]])(
            w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], w[8], w[9], w[10], w[11], real);
        give(&result, sizeof result);
        for (int64_t k = 0; k < count; k++)
            if (given[k].kind == MEMORY) {
                give(memory[k], given[k].value);
                free(memory[k]);
            }
        fflush(stdout);
    }
    return 0;
}
