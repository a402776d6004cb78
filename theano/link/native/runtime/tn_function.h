/* A compiled function, called from C: no Python, no lock, from any thread and from many at once.
 *
 * `theano.link.native.c_function` gives the address of tn_call and that of a function. A call reads its
 * inputs where they are and writes its results where the caller wants them; what it needs besides
 * it keeps for this thread until the thread ends. It runs on this thread alone, unless the
 * function was made for more, and no signal ends it. If it was made with parts that Python runs,
 * these take the interpreter's lock.
 */
#ifndef TN_FUNCTION_H
#define TN_FUNCTION_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tn_function tn_function;

/* An array that a call reads: in C order, and aligned to its elements. */
typedef struct {
    const void *data;
    /* Its lengths; not read where it has no dimension. */
    const int64_t *shape;
} tn_given;

/* An array that a call writes, in C order. */
typedef struct {
    void *data;
    /* How many bytes there are. */
    int64_t bytes;
    /* Gets its lengths, if it has dimensions; known, too, where TN_NO_ROOM is returned. */
    int64_t *shape;
} tn_made;

/* What a call returns. */
enum {
    TN_DONE = 0,
    /* The system has no memory. */
    TN_NO_MEMORY = 1,
    /* A result is larger than where it is to be written. */
    TN_NO_ROOM = 2,
    /* Lengths that do not fit one another, or an operation that raises an error in Python. */
    TN_FAILED = 3,
    /* A part that Python runs has raised an error that no number explains. */
    TN_RAISED = 4,
};

/* Computes the results of a function, in its order, from its inputs, in theirs. What is at the
 * results after a call that failed is undefined. */
int64_t tn_call(const tn_function *function, const tn_given *inputs, const tn_made *results);

/* Why the last call of this thread that failed did so: a text, until the thread's next call. */
const char *tn_message(void);

#ifdef __cplusplus
}
#endif

#endif
