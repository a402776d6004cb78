/* A function of one segment as Python calls it again and again. `run/prepared_call.py` writes it. */
#ifndef TN_PREPARED_CALL_H
#define TN_PREPARED_CALL_H

#include "function.h"
#include "runtime.h"

/* What is used of Python: functions by their addresses, so that nothing is linked with it, and objects. */
typedef struct {
    void *(*save_thread)(void);
    void (*restore_thread)(void *thread);
    void (*increment)(void *object);
    void (*decrement)(void *object);
    /* PyObject_Call */
    void *(*call)(void *callable, void *arguments, void *keywords);
    void *(*new_list)(int64_t length);
    int (*set_item)(void *list, int64_t position, void *object);
    double (*real)(void *number);
    long long (*integer)(void *number, int *overflow);
    /* Returned for a call that is to be made in another way. */
    void *not_implemented;
    const void *array_type, *float_type, *numpy_float_type, *integer_type;
    /* numpy.empty */
    void *make_array;
} tn_interpreter;

/* A value that a call reads. */
typedef struct {
    /* The position of the argument that it is, or -1: a list holds it. */
    int32_t argument;
    /* Its position among what the segment is given, or -1. */
    int32_t position;
    tn_expected expected;
    /* The lengths that it has to have, where one is static: -1 is any. */
    const int64_t *shape;
    void *list;
    /* An array of no dimension for a number that is given in place of an array, or NULL. */
    tn_array *number;
} tn_prepared_input;

/* A shared variable that gets a new value: the list that holds its value, and the position of the new one. */
typedef struct {
    void *list;
    int64_t made;
} tn_prepared_update;

typedef struct {
    const tn_interpreter *python;
    tn_entry entry;
    const void *runtime;
    char *work;
    int64_t room;
    int64_t *report;
    /* Where in the report the lengths of what is made lie. */
    const int64_t *lengths_made;
    const tn_prepared_input *inputs;
    /* What the segment is given, of which constants are there already, and what it makes. */
    void **items;
    /* Of what it makes: a list of the arrays of the call before, and one of what makes such arrays. */
    void *kept, *room_for;
    /* What is returned: positions among what it makes. */
    const int32_t *results;
    const tn_prepared_update *updates;
    /* For each array that is made the position of what the segment is given in whose memory it is made, or -1;
     * NULL where all have their own, and the segment is offered those of the call before. Else it is first asked
     * for their lengths, which have to be these. */
    const int32_t *overwritten;
    const int64_t *lengths;
    /* The number of the call that is left to the caller, who looks for better code then; 0 if there is none. */
    int64_t left;
    int32_t argument_count, input_count, given_count, made_count, result_count, update_count, length_count, busy;
} tn_prepared;

#endif
