/* Calls of compiled functions from C: the parts of a function, each when a result needs it. */
#include "function.h"
#include "platform.h"
#include "runtime.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of NumPy's arrays. */
#define IS_ALIGNED 0x100
/* Of what a segment reports: the bytes of work memory, and where the shapes of its results begin. */
enum { STEP = 0, WORK = 1, FIRST_LENGTH = 2 };

/* ---- The memory of a thread, which a call takes from its beginning on. ---- */

enum { LINE = 64, LEAST_BLOCK = 1 << 16, MOST_CHARACTERS = 512 };

struct block {
    struct block *older;
    int64_t bytes, used;
    _Alignas(LINE) char memory[];
};

struct thread_memory {
    struct block *newest;
    /* How many calls are running: what Python runs may call a function, too. */
    int calls;
    char message[MOST_CHARACTERS];
};

static pthread_key_t memory_key;
static pthread_once_t memory_once = PTHREAD_ONCE_INIT;

static void free_blocks(struct block *block)
{
    while (block) {
        struct block *older = block->older;
        tn_free_aligned(block);
        block = older;
    }
}

static void free_memory(void *argument)
{
    struct thread_memory *memory = argument;
    free_blocks(memory->newest);
    free(memory);
}

static void make_memory_key(void) { pthread_key_create(&memory_key, free_memory); }

static struct thread_memory *memory_of_thread(void)
{
    pthread_once(&memory_once, make_memory_key);
    struct thread_memory *memory = pthread_getspecific(memory_key);
    if (!memory && (memory = calloc(1, sizeof *memory)) && pthread_setspecific(memory_key, memory)) {
        free(memory);
        memory = NULL;
    }
    return memory;
}

/* Memory until the end of the call; NULL where there is none. */
static void *taken(struct thread_memory *memory, int64_t bytes)
{
    struct block *block = memory->newest;
    bytes = (bytes + LINE - 1) / LINE * LINE;
    if (!block || block->bytes - block->used < bytes) {
        int64_t size = block ? 2 * block->bytes : LEAST_BLOCK;
        if (size < bytes)
            size = bytes;
        struct block *made = tn_allocate_aligned(LINE, sizeof *made + (size_t)size);
        if (!made)
            return NULL;
        *made = (struct block){block, size, 0};
        memory->newest = block = made;
    }
    void *place = block->memory + block->used;
    block->used += bytes;
    return place;
}

/* What is taken when a call begins, which is not its own. */
struct taken_before {
    struct block *newest;
    int64_t used;
};

/* A call begins: the largest block, which is the newest, is enough the next time. Of a call that this one
 * is made in, by what Python runs, the memory stays. */
static struct taken_before begin_call(struct thread_memory *memory)
{
    struct block *newest = memory->newest;
    memory->message[0] = 0;
    if (memory->calls++)
        return (struct taken_before){newest, newest->used};
    if (newest) {
        free_blocks(newest->older);
        newest->older = NULL;
        newest->used = 0;
    }
    return (struct taken_before){newest, 0};
}

static void end_call(struct thread_memory *memory, struct taken_before before)
{
    memory->calls--;
    if (memory->newest)
        memory->newest->used = memory->newest == before.newest ? before.used : 0;
}

/* ---- A call. ---- */

struct call {
    const tn_function *function;
    const tn_made *results;
    struct thread_memory *memory;
    tn_numpy_array *arrays;
    tn_numpy_type *types;
    char *done;
};

/* Stands for the class of arrays. */
static const char array_type;

static int64_t failed(struct call *call, int64_t result, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(call->memory->message, MOST_CHARACTERS, format, arguments);
    va_end(arguments);
    return result;
}

static int64_t no_memory(struct call *call, int64_t bytes)
{
    return failed(call, TN_NO_MEMORY, "there is no memory for %lld bytes", (long long)bytes);
}

static int64_t bytes_of(const tn_value *value, const tn_numpy_array *array)
{
    int64_t bytes = value->itemsize;
    for (int d = 0; d < value->ndim; d++)
        bytes *= array->shape[d];
    return bytes;
}

static void set_strides(const tn_value *value, tn_numpy_array *array)
{
    int64_t stride = value->itemsize;
    for (int d = value->ndim - 1; d >= 0; d--) {
        array->strides[d] = stride;
        stride *= array->shape[d];
    }
}

/* Arrays for all values, of which those that are given have their data. */
static int64_t make_arrays(struct call *call, const tn_given *inputs)
{
    const tn_function *function = call->function;
    int64_t dimensions = 0;
    for (int k = 0; k < function->value_count; k++)
        dimensions += function->values[k].ndim;
    int64_t each = sizeof *call->arrays + sizeof *call->types;
    int64_t bytes = function->value_count * each + 2 * dimensions * (int64_t)sizeof(int64_t)
                    + function->unit_count;
    char *place = taken(call->memory, bytes);
    if (!place)
        return no_memory(call, bytes);
    call->arrays = (tn_numpy_array *)place;
    call->types = (tn_numpy_type *)(call->arrays + function->value_count);
    int64_t *lengths = (int64_t *)(call->types + function->value_count);
    call->done = (char *)(lengths + 2 * dimensions);
    memset(call->done, 0, (size_t)function->unit_count);
    for (int k = 0; k < function->value_count; k++) {
        const tn_value *value = &function->values[k];
        call->types[k] = (tn_numpy_type){.order = '=', .number = value->number};
        call->arrays[k] = (tn_numpy_array){
            .type = &array_type, .ndim = value->ndim, .shape = lengths,
            .strides = lengths + value->ndim, .dtype = &call->types[k], .flags = IS_ALIGNED,
        };
        lengths += 2 * value->ndim;
        int64_t bound = k - function->input_count;
        if (bound >= function->bound_count)
            continue;
        const tn_given *given = bound < 0 ? &inputs[k] : &function->bound[bound];
        call->arrays[k].data = (void *)given->data;
        for (int d = 0; d < value->ndim; d++)
            call->arrays[k].shape[d] = given->shape[d];
        set_strides(value, &call->arrays[k]);
    }
    return TN_DONE;
}

/* Where a value that is computed is written: to the caller's memory, if it is a result. */
static int64_t make_room(struct call *call, int32_t k)
{
    const tn_function *function = call->function;
    tn_numpy_array *array = &call->arrays[k];
    int64_t bytes = bytes_of(&function->values[k], array);
    set_strides(&function->values[k], array);
    for (int r = 0; r < function->result_count; r++)
        if (function->results[r] == k && call->results[r].bytes >= bytes) {
            array->data = call->results[r].data;
            return TN_DONE;
        }
    array->data = taken(call->memory, bytes);
    return array->data ? TN_DONE : no_memory(call, bytes);
}

/* A size that a message gives. */
static long long size_of(const struct call *call, const tn_unit *unit, const tn_check *check, int k)
{
    if (check->given[k] < 0)
        return 0;
    return call->arrays[unit->given[check->given[k]]].shape[check->dimension[k]];
}

static int64_t does_not_hold(struct call *call, const tn_unit *unit, const tn_check *check)
{
    return failed(call, TN_FAILED, check->text, size_of(call, unit, check, 0),
                  size_of(call, unit, check, 1));
}

static int64_t refused(struct call *call, const tn_unit *unit, int64_t status, int64_t step)
{
    if (status > 0 && status <= unit->checks_count)
        return does_not_hold(call, unit, &unit->checks[status - 1]);
    if (status < 0 && -status <= unit->errors_count)
        return failed(call, TN_FAILED, unit->errors[-status - 1], (long long)step);
    return failed(call, TN_FAILED, "a part of the function refuses what it is given");
}

static int64_t run_segment(struct call *call, const tn_unit *unit)
{
    int64_t lengths = FIRST_LENGTH;
    for (int k = 0; k < unit->made_count; k++)
        lengths += call->function->values[unit->made[k]].ndim;
    int count = unit->given_count + unit->made_count;
    int64_t bytes = count * (int64_t)sizeof(void *) + lengths * (int64_t)sizeof(int64_t);
    tn_numpy_array **items = taken(call->memory, bytes);
    if (!items)
        return no_memory(call, bytes);
    int64_t *report = (int64_t *)(items + count);
    for (int k = 0; k < unit->given_count; k++)
        items[k] = &call->arrays[unit->given[k]];
    for (int k = 0; k < unit->made_count; k++)
        items[unit->given_count + k] = &call->arrays[unit->made[k]];
    /* where a list has its items */
    void *list[4] = {NULL, NULL, NULL, items};
    report[STEP] = report[WORK] = 0;
    int64_t status = unit->entry(list, call->function->runtime, &array_type, NULL, report, 0);
    if (status)
        return refused(call, unit, status, report[STEP]);
    const int64_t *length = report + FIRST_LENGTH;
    for (int k = 0; k < unit->made_count; k++) {
        tn_numpy_array *array = items[unit->given_count + k];
        for (int d = 0; d < array->ndim; d++)
            array->shape[d] = *length++;
        int64_t result = make_room(call, unit->made[k]);
        if (result)
            return result;
    }
    char *work = taken(call->memory, report[WORK]);
    if (!work)
        return no_memory(call, report[WORK]);
    status = unit->entry(list, call->function->runtime, &array_type, work, report, 1);
    if (status)
        return refused(call, unit, status, report[STEP]);
    length = report + FIRST_LENGTH;
    for (int k = 0; unit->stops_early && k < unit->made_count; k++) {
        tn_numpy_array *array = items[unit->given_count + k];
        if (array->ndim && *length < array->shape[0])
            array->shape[0] = *length;
        length += array->ndim;
    }
    return TN_DONE;
}

/* What Python runs. */
static int64_t call_python(struct call *call, const tn_unit *unit)
{
    int count = unit->given_count + unit->made_count;
    int64_t bytes = count * (int64_t)(sizeof(void *) + sizeof(int64_t *));
    void **data = taken(call->memory, bytes);
    if (!data)
        return no_memory(call, bytes);
    int64_t **shapes = (int64_t **)(data + count);
    for (int k = 0; k < count; k++) {
        int32_t value = k < unit->given_count ? unit->given[k] : unit->made[k - unit->given_count];
        data[k] = call->arrays[value].data;
        shapes[k] = call->arrays[value].shape;
    }
    char *message = call->memory->message;
    int64_t result = unit->python(0, data, shapes, message, MOST_CHARACTERS);
    for (int k = 0; !result && k < unit->made_count; k++) {
        result = make_room(call, unit->made[k]);
        data[unit->given_count + k] = call->arrays[unit->made[k]].data;
    }
    return result ? result : unit->python(1, data, shapes, message, MOST_CHARACTERS);
}

static int64_t compute(struct call *call, int32_t k);

/* Whether a number is not zero: -0.0, of which one bit is set, is. */
static int is_true(const tn_value *value, const void *data)
{
    /* NumPy's numbers of float32 and float64 */
    enum { FLOAT32 = 11, FLOAT64 = 12 };
    if (value->number == FLOAT32)
        return *(const float *)data != 0;
    if (value->number == FLOAT64)
        return *(const double *)data != 0;
    int holds = 0;
    for (int64_t k = 0; k < value->itemsize; k++)
        holds |= ((const char *)data)[k];
    return holds;
}

static int64_t take_branch(struct call *call, const tn_unit *unit)
{
    int64_t result = compute(call, unit->given[0]);
    if (result)
        return result;
    int holds = is_true(&call->function->values[unit->given[0]],
                        call->arrays[unit->given[0]].data);
    const int32_t *passed_on = unit->given + 1 + (holds ? 0 : unit->made_count);
    for (int k = 0; k < unit->made_count; k++) {
        result = compute(call, passed_on[k]);
        if (result)
            return result;
        tn_numpy_array *array = &call->arrays[unit->made[k]];
        const tn_numpy_array *chosen = &call->arrays[passed_on[k]];
        array->data = chosen->data;
        for (int d = 0; d < array->ndim; d++)
            array->shape[d] = chosen->shape[d];
        set_strides(&call->function->values[unit->made[k]], array);
    }
    return TN_DONE;
}

/* A value, and what it is computed from; of a branch, what is taken. */
static int64_t compute(struct call *call, int32_t k)
{
    int32_t made_by = call->function->values[k].made_by;
    if (made_by < 0 || call->done[made_by])
        return TN_DONE;
    const tn_unit *unit = &call->function->units[made_by];
    int64_t result = TN_DONE;
    int is_branch = !unit->entry && !unit->python;
    for (int j = 0; !is_branch && !result && j < unit->given_count; j++)
        result = compute(call, unit->given[j]);
    if (!result)
        result = is_branch ? take_branch(call, unit)
                 : unit->entry ? run_segment(call, unit)
                               : call_python(call, unit);
    call->done[made_by] = !result;
    return result;
}

/* Results that lie elsewhere go where the caller wants them, and all report their lengths. */
static int64_t give_results(struct call *call)
{
    const tn_function *function = call->function;
    int64_t code = TN_DONE;
    for (int r = 0; r < function->result_count; r++) {
        const tn_value *value = &function->values[function->results[r]];
        const tn_numpy_array *array = &call->arrays[function->results[r]];
        const tn_made *result = &call->results[r];
        int64_t bytes = bytes_of(value, array);
        for (int d = 0; d < value->ndim; d++)
            result->shape[d] = array->shape[d];
        if (array->data == result->data)
            continue;
        if (bytes > result->bytes)
            code = failed(call, TN_NO_ROOM, "result %d has %lld bytes, and there is room for %lld",
                          r, (long long)bytes, (long long)result->bytes);
        else if (bytes)
            memcpy(result->data, array->data, (size_t)bytes);
    }
    return code;
}

int64_t tn_call(const tn_function *function, const tn_given *inputs, const tn_made *results)
{
    struct call call = {.function = function, .results = results, .memory = memory_of_thread()};
    if (!call.memory)
        return TN_NO_MEMORY;
    struct taken_before before = begin_call(call.memory);
    int apart = tn_set_apart(1), alone = tn_set_alone(1);
    /* a thread of the pool's stays one */
    tn_set_alone(alone || !function->shares);
    int64_t result = make_arrays(&call, inputs);
    for (int r = 0; !result && r < function->result_count; r++)
        result = compute(&call, function->results[r]);
    if (!result)
        result = give_results(&call);
    tn_set_alone(alone);
    tn_set_apart(apart);
    end_call(call.memory, before);
    return result;
}

const char *tn_message(void)
{
    const struct thread_memory *memory = memory_of_thread();
    return memory ? memory->message : "there is no memory";
}
