/* What a compiled function consists of. `theano/link/native/run/c_function.py` writes it. */
#ifndef TN_FUNCTION_PARTS_H
#define TN_FUNCTION_PARTS_H

#include "tn_function.h"

/* NumPy's array and what its type looks like, as generated code reads them (render/included/prelude.inc). */
typedef struct {
    int64_t references;
    void *type, *scalar;
    char kind, code, order, flags;
    int number;
} tn_numpy_type;

typedef struct {
    int64_t references;
    const void *type;
    void *data;
    int ndim;
    int64_t *shape, *strides;
    void *base;
    const tn_numpy_type *dtype;
    int flags;
} tn_numpy_array;

/* A segment's function; see render/segment.py. */
typedef int64_t (*tn_entry)(const void *arrays, const void *runtime, const void *array_type,
                            char *work, int64_t *result, int64_t run);

/* A value of the function: an input, one that is bound, or what a unit computes. */
typedef struct {
    int64_t itemsize;
    int32_t ndim;
    /* NumPy's number of its type. */
    int32_t number;
    /* The unit that computes it, or -1. */
    int32_t made_by;
} tn_value;

/* A condition of a call: an error message, and of each of the sizes that it gives (%lld), the
 * position of an input, or -1, and the dimension. */
typedef struct {
    const char *text;
    int32_t given[2], dimension[2];
} tn_check;

/* A part that Python runs. At first it computes, and gives the lengths of its results; then, with
 * `write`, their data are copied where there is room. Arrays are those that are given, then those
 * that are made. Where it fails there is a message. */
typedef int64_t (*tn_python)(int64_t write, void **data, int64_t **shapes, char *message,
                             int64_t room);

/* A part of the function. Without an entry, and if it is not Python's, it is a branch: the first input is the condition, the others
 * are what it passes on, first where the condition holds, then where it does not. */
typedef struct {
    tn_entry entry;
    const int32_t *given, *made;
    int32_t given_count, made_count;
    /* Whether fewer rows of results may be written than there is room for. */
    int32_t stops_early;
    int32_t checks_count, errors_count;
    /* The error messages of a call that fails. */
    const tn_check *checks;
    const char *const *errors;
    tn_python python;
} tn_unit;

struct tn_function {
    const void *runtime;
    const tn_value *values;
    const tn_unit *units;
    /* Of the values after the inputs: constants and shared variables. */
    const tn_given *bound;
    /* The values that are the results. */
    const int32_t *results;
    int32_t input_count, bound_count, value_count, unit_count, result_count;
    /* Whether a call may use the pool's threads. */
    int32_t shares;
};

#endif
