/* Calls from Python that compute little: arguments are checked, results find room, and the segment runs, all in C.
 *
 * Whatever is unusual is left to the caller, who gets NotImplemented: nothing has changed then. Python's
 * lock is held but for the time of the segment itself. Two calls at once do not share memory: the second
 * is left to the caller, too. */
#include "prepared_call.h"

#include <stddef.h>

enum { FLOAT32 = 11, FLOAT64 = 12, ALIGNED = 0x100 };
/* Flags of an array that has its own memory, in C order, and may be written. */
enum { OWNDATA = 0x4, WHOLE = 0x1 | OWNDATA | ALIGNED | 0x400 };

/* What an object of Python begins with; counts have 32 bits since 3.12, and are small before. */
struct object {
    uint32_t references;
    uint32_t flags;
    const void *type;
};

static void *item_of(void *list, int64_t position) { return ((void *const *const *)list)[3][position]; }

static void *left_to_caller(const tn_prepared *call)
{
    call->python->increment(call->python->not_implemented);
    return call->python->not_implemented;
}

static int is_expected(const tn_array *array, const tn_prepared_input *input)
{
    const int number = array->dtype->number;
    if (array->ndim != input->expected.ndim
        || (number != input->expected.number && number != input->expected.other)
        || array->dtype->order == '>' || !(array->flags & ALIGNED))
        return 0;
    for (int d = 0; input->shape && d < array->ndim; d++)
        if (input->shape[d] >= 0 && input->shape[d] != array->shape[d])
            return 0;
    return 1;
}

static int stored_real(tn_array *array, double number)
{
    if (array->dtype->number == FLOAT64)
        *(double *)array->data = number;
    else if (array->dtype->number == FLOAT32 && (double)(float)number == number)
        *(float *)array->data = (float)number;
    else
        return 0;
    return 1;
}

static int stored_integer(tn_array *array, long long number, int itemsize)
{
    /* of as many digits as those of an integer that a float holds */
    const int number_of_type = array->dtype->number;
    const int is_real = number_of_type == FLOAT64 || number_of_type == FLOAT32;
    const int digits = number_of_type == FLOAT64 ? 53 : number_of_type == FLOAT32 ? 24 : 8 * itemsize - 1;
    if (digits < 63 && (number < -(1LL << digits) || number >= 1LL << digits))
        return 0;
    if (is_real)
        return stored_real(array, (double)number);
    switch (itemsize) {
    case 1: *(int8_t *)array->data = (int8_t)number; break;
    case 2: *(int16_t *)array->data = (int16_t)number; break;
    case 4: *(int32_t *)array->data = (int32_t)number; break;
    default: *(int64_t *)array->data = number;
    }
    return 1;
}

/* A number as an array, if it is represented without loss. */
static int stored(const tn_interpreter *python, const tn_prepared_input *input, void *value)
{
    const void *type = ((struct object *)value)->type;
    if (!input->number)
        return 0;
    if (type == python->float_type || type == python->numpy_float_type)
        return stored_real(input->number, python->real(value));
    if (type != python->integer_type)
        return 0;
    int overflow = 0;
    const long long number = python->integer(value, &overflow);
    return !overflow && stored_integer(input->number, number, input->expected.itemsize);
}

/* The array that a call reads; NULL where it is none of the expected kind. */
static void *array_of(const tn_prepared *call, const tn_prepared_input *input, void *const *arguments)
{
    void *value = input->argument < 0 ? item_of(input->list, 0) : arguments[input->argument];
    if (!value)
        return NULL;
    if (((struct object *)value)->type != call->python->array_type)
        return input->argument >= 0 && stored(call->python, input, value) ? input->number : NULL;
    return is_expected(value, input) ? value : NULL;
}

/* Whether an object is an array as results are made, so that one of them may lie where it does. */
static int is_whole(const tn_prepared *call, const void *object, const tn_array *as)
{
    const tn_array *array = object;
    if (((const struct object *)object)->type != call->python->array_type || (array->flags & WHOLE) != WHOLE
        || array->dtype->number != as->dtype->number || array->dtype->order == '>' || array->ndim != as->ndim)
        return 0;
    for (int d = 0; d < array->ndim; d++)
        if (array->shape[d] != as->shape[d])
            return 0;
    return 1;
}

/* Where the memory of an array begins and ends; 0 if it has none. */
static int extent_of(const tn_array *array, int itemsize, const char **low, const char **high)
{
    *low = array->data, *high = *low + itemsize;
    for (int d = 0; d < array->ndim; d++) {
        if (!array->shape[d])
            return 0;
        const int64_t extent = (array->shape[d] - 1) * array->strides[d];
        *(extent < 0 ? low : high) += extent;
    }
    return 1;
}

/* Whether an array that has its own memory may share some of it with another one; each with its items' size. */
static int is_shared(const tn_array *own, int own_size, const tn_array *other, int other_size)
{
    const char *low, *high, *other_low, *other_high;
    if ((other->flags & OWNDATA) || other == own)
        return other == own;
    return extent_of(own, own_size, &low, &high) && extent_of(other, other_size, &other_low, &other_high)
        && low < other_high && other_low < high;
}

/* Whether one of the values that a call reads, of which each has its own memory, has that to itself. */
static int lies_alone(const tn_prepared *call, void *const *held, int which)
{
    const tn_prepared_input *const inputs = call->inputs;
    for (int j = 0; j < call->input_count; j++)
        if (j != which
            && is_shared(held[which], inputs[which].expected.itemsize, held[j], inputs[j].expected.itemsize))
            return 0;
    return 1;
}

/* Whether what is to be overwritten is as large as what is made, and no other array lies there. */
static int may_overwrite(const tn_prepared *call, void *const *held)
{
    for (int k = 0; call->overwritten && k < call->made_count; k++) {
        if (call->overwritten[k] < 0)
            continue;
        int which = 0;
        while (call->inputs[which].position != call->overwritten[k])
            which++;
        if (!is_whole(call, held[which], item_of(call->kept, k)) || !lies_alone(call, held, which))
            return 0;
    }
    return 1;
}

/* Room for what is made: the arrays of the call before, where nobody else has them, or what is overwritten. */
static int make_room(const tn_prepared *call)
{
    for (int k = 0; k < call->made_count; k++) {
        void *array = item_of(call->kept, k);
        const int taken = call->overwritten ? call->overwritten[k] : -1;
        if (taken >= 0) {
            array = call->items[taken];
        } else if (((struct object *)array)->references != 1) {
            array = call->python->call(call->python->make_array, item_of(call->room_for, k), NULL);
            if (!array || call->python->set_item(call->kept, k, array))
                return 0;
        }
        call->items[call->given_count + k] = array;
    }
    return 1;
}

static void *results_of(const tn_prepared *call)
{
    void *results = call->python->new_list(call->result_count);
    for (int k = 0; results && k < call->result_count; k++) {
        void *array = call->items[call->given_count + call->results[k]];
        call->python->increment(array);
        call->python->set_item(results, k, array);
    }
    return results;
}

/* Gives shared variables their new values; the memory of the old ones is kept for the next call. */
static void update(const tn_prepared *call)
{
    for (int k = 0; k < call->update_count; k++) {
        const tn_prepared_update *one = &call->updates[k];
        void *made = call->items[call->given_count + one->made], *old = item_of(one->list, 0);
        call->python->increment(made);
        if (is_whole(call, old, made)) {
            call->python->increment(old);
            call->python->set_item(call->kept, one->made, old);
        }
        call->python->set_item(one->list, 0, made);
    }
}

/* Runs the segment, in memory of the lengths of the call before; 0 where it has run. */
static int64_t run(const tn_prepared *call)
{
    /* where a list has its items */
    void *list[4] = {NULL, NULL, NULL, call->items};
    const void *type = call->python->array_type;
    if (!call->overwritten)
        return call->entry(list, call->runtime, type, call->work, call->report, ~call->room);
    const int64_t refused = call->entry(list, call->runtime, type, call->work, call->report, 0);
    if (refused || call->report[1] > call->room)
        return 1;
    for (int k = 0; k < call->length_count; k++)
        if (call->lengths_made[k] != call->lengths[k])
            return 1;
    call->report[1] = 0;
    return call->entry(list, call->runtime, type, call->work, call->report, 1);
}

static void *computed(const tn_prepared *call)
{
    if (!make_room(call))
        return NULL;
    void *thread = call->python->save_thread();
    const int64_t status = run(call);
    call->python->restore_thread(thread);
    /* Before what is overwritten is written, the segment sees whether it is to stop; after that all is done. */
    const int is_done = call->overwritten && call->report[1] == TN_COMMITTED;
    /* a product was left in the middle, or something is to be done before */
    if (status || (tn_stopping && !is_done))
        return left_to_caller(call);
    void *const results = results_of(call);
    if (results)
        update(call);
    return results;
}

/* A function of Python's kind METH_FASTCALL; the first item of the list is an array in whose memory the call lies. */
void *tn_call_prepared(void *self, void *const *arguments, int64_t count);
void *tn_call_prepared(void *self, void *const *arguments, int64_t count)
{
    tn_prepared *call = ((tn_array *)item_of(self, 0))->data;
    if (call->busy || count != call->argument_count)
        return left_to_caller(call);
    if (call->left && !--call->left)
        return left_to_caller(call);
    call->busy = 1;
    void *held[call->input_count + 1];
    int taken = 0;
    for (; taken < call->input_count; taken++) {
        const tn_prepared_input *input = &call->inputs[taken];
        held[taken] = array_of(call, input, arguments);
        if (!held[taken])
            break;
        if (input->position >= 0)
            call->items[input->position] = held[taken];
        /* whatever other threads put into the list meanwhile */
        call->python->increment(held[taken]);
    }
    const int is_plain = taken == call->input_count && may_overwrite(call, held);
    void *result = is_plain ? computed(call) : left_to_caller(call);
    call->busy = 0;
    while (taken)
        call->python->decrement(held[--taken]);
    return result;
}
