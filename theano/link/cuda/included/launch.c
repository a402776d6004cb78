/* Launches kernels of loops in programs of XLA, by CUDA's driver and on XLA's streams.
 *
 * A call has the code of a kernel and what it needs as attributes, so that XLA may keep its programs on
 * disk. Results begin with the arrays that the kernel writes; the last two are its memory and its status. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "xla/ffi/api/c_api.h"

#ifndef TL_DRIVER
#define TL_DRIVER "libcuda.so.1"
#endif

/* Where a kernel's memory begins after the counters of its barriers: see handler.py. */
enum { BARRIER_BYTES = 256 };

/* ---- the driver, as its manual declares it (CUDA Driver API, "Module", "Execution Control") ---- */

typedef void *handle;
enum { MOST_DYNAMIC_SHARED_BYTES = 8, MULTIPROCESSORS = 16 };

static struct {
    int (*cuInit)(unsigned);
    int (*cuGetErrorString)(int, const char **);
    int (*cuCtxGetCurrent)(handle *);
    int (*cuDeviceGet)(int *, int);
    int (*cuDeviceGetAttribute)(int *, int, int);
    int (*cuDevicePrimaryCtxRetain)(handle *, int);
    int (*cuDevicePrimaryCtxRelease)(int);
    int (*cuCtxPushCurrent)(handle);
    int (*cuCtxPopCurrent)(handle *);
    int (*cuStreamGetCtx)(handle, handle *);
    int (*cuModuleLoadData)(handle *, const void *);
    int (*cuModuleGetFunction)(handle *, handle, const char *);
    int (*cuFuncSetAttribute)(handle, int, int);
    int (*cuOccupancyMaxActiveBlocksPerMultiprocessor)(int *, handle, int, size_t);
    int (*cuMemsetD8Async)(uint64_t, unsigned char, size_t, handle);
    int (*cuLaunchCooperativeKernel)(handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                                     handle, void **);
} driver;

/* The names in the library; some end with the version of their arguments. */
static const char *const driver_names[] = {
    "cuInit",
    "cuGetErrorString",
    "cuCtxGetCurrent",
    "cuDeviceGet",
    "cuDeviceGetAttribute",
    "cuDevicePrimaryCtxRetain",
    "cuDevicePrimaryCtxRelease_v2",
    "cuCtxPushCurrent_v2",
    "cuCtxPopCurrent_v2",
    "cuStreamGetCtx",
    "cuModuleLoadData",
    "cuModuleGetFunction",
    "cuFuncSetAttribute",
    "cuOccupancyMaxActiveBlocksPerMultiprocessor",
    "cuMemsetD8Async",
    "cuLaunchCooperativeKernel",
};

enum { MESSAGE_BYTES = 500 };

/* A function of the driver that fails ends the caller, which returns 0 with a message. */
#define TRY(call)                                                                                    \
    do {                                                                                             \
        const int status = driver.call;                                                              \
        if (status) return failed(message, #call, status);                                           \
    } while (0)

static int failed(char *message, const char *call, int code)
{
    const char *text = 0;
    if (driver.cuGetErrorString) driver.cuGetErrorString(code, &text);
    const int length = (int)strcspn(call, "(");
    snprintf(message, MESSAGE_BYTES, "CUDA's driver: %.*s: %s (%d)", length, call, text ? text : "an error", code);
    return 0;
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Loads the driver once; the caller holds the lock. */
static int load_driver(char *message)
{
    static int loaded = 0;
    if (loaded) return 1;
    void *const library = dlopen(TL_DRIVER, RTLD_NOW | RTLD_LOCAL);
    if (!library) return snprintf(message, MESSAGE_BYTES, "CUDA's driver is not there: %s", dlerror()), 0;
    void **const functions = (void **)&driver;
    for (size_t k = 0; k < sizeof driver_names / sizeof *driver_names; k++) {
        functions[k] = dlsym(library, driver_names[k]);
        if (!functions[k]) {
            snprintf(message, MESSAGE_BYTES, "CUDA's driver has no %s", driver_names[k]);
            return 0;
        }
    }
    TRY(cuInit(0));
    loaded = 1;
    return 1;
}

/* ---- kernels that were loaded, by their key and the context: never unloaded, for a stream may have one ---- */

typedef struct kernel {
    struct kernel *next;
    char *key;
    handle context, function;
} kernel;

static kernel *kernels;

/* A kernel's function in the current context; the caller holds the lock. */
static int function_of(handle *function, const char *key, size_t key_length, const void *code, const char *name,
                       int own_bytes, char *message)
{
    handle context = 0, module = 0;
    TRY(cuCtxGetCurrent(&context));
    for (kernel *one = kernels; one; one = one->next) {
        if (one->context == context && strlen(one->key) == key_length && !memcmp(one->key, key, key_length)) {
            *function = one->function;
            return 1;
        }
    }
    TRY(cuModuleLoadData(&module, code));
    TRY(cuModuleGetFunction(function, module, name));
    TRY(cuFuncSetAttribute(*function, MOST_DYNAMIC_SHARED_BYTES, own_bytes));
    kernel *const one = malloc(sizeof *one);
    char *const copy = malloc(key_length + 1);
    if (!one || !copy) return snprintf(message, MESSAGE_BYTES, "no memory"), 0;
    memcpy(copy, key, key_length);
    copy[key_length] = 0;
    *one = (kernel){kernels, copy, context, *function};
    kernels = one;
    return 1;
}

static int resident_blocks(int64_t *count, const char *key, const void *code, const char *name, int device, int lanes,
                           int own_bytes, char *message)
{
    handle function = 0;
    int each = 0, multiprocessors = 0;
    if (!function_of(&function, key, strlen(key), code, name, own_bytes, message)) return 0;
    TRY(cuOccupancyMaxActiveBlocksPerMultiprocessor(&each, function, lanes, (size_t)own_bytes));
    TRY(cuDeviceGetAttribute(&multiprocessors, MULTIPROCESSORS, device));
    *count = (int64_t)each * multiprocessors;
    return 1;
}

static int in_context_of(int number, int64_t *count, const char *key, const void *code, const char *name, int lanes,
                         int own_bytes, char *message)
{
    int device = 0;
    handle context = 0;
    TRY(cuDeviceGet(&device, number));
    TRY(cuDevicePrimaryCtxRetain(&context, device));
    TRY(cuCtxPushCurrent(context));
    const int done = resident_blocks(count, key, code, name, device, lanes, own_bytes, message);
    driver.cuCtxPopCurrent(&context);
    driver.cuDevicePrimaryCtxRelease(device);
    return done;
}

/* How many blocks of a kernel can be resident on a device, or -1 with a message of up to MESSAGE_BYTES. */
int64_t tl_resident_blocks(int number, const char *key, const void *code, const char *name, int lanes, int own_bytes,
                           char *message)
{
    int64_t count = -1;
    pthread_mutex_lock(&lock);
    const int done =
        load_driver(message) && in_context_of(number, &count, key, code, name, lanes, own_bytes, message);
    pthread_mutex_unlock(&lock);
    return done ? count : -1;
}

/* ---- XLA's call ---- */

/* What a call has as attributes, in the order of their names, which is that in which XLA gives them. */
typedef struct {
    const XLA_FFI_Array *code;
    const XLA_FFI_ByteSpan *key;
    /* blocks, lanes, bytes of a block's own memory, steps */
    const int64_t *launch;
    const XLA_FFI_ByteSpan *name;
    /* for each array of the kernel: an argument of the call, or -1 minus the number of a result */
    const XLA_FFI_Array *places;
    const int64_t *rows;
} attributes;

static const char *const attribute_names[] = {"code", "key", "launch", "name", "places", "rows"};
enum { ATTRIBUTES = sizeof attribute_names / sizeof *attribute_names };

static int attributes_of(attributes *found, const XLA_FFI_Attrs *given, char *message)
{
    const void *values[ATTRIBUTES] = {0};
    for (int64_t k = 0; k < given->size; k++) {
        for (int j = 0; j < ATTRIBUTES; j++) {
            const XLA_FFI_ByteSpan *const name = given->names[k];
            if (name->len == strlen(attribute_names[j]) && !memcmp(name->ptr, attribute_names[j], name->len))
                values[j] = given->attrs[k];
        }
    }
    for (int j = 0; j < ATTRIBUTES; j++) {
        if (!values[j]) return snprintf(message, MESSAGE_BYTES, "no attribute %s", attribute_names[j]), 0;
    }
    *found = (attributes){
        values[0], values[1], ((const XLA_FFI_Array *)values[2])->data, values[3], values[4],
        ((const XLA_FFI_Array *)values[5])->data,
    };
    return 1;
}

static void *data_of(void *const *buffers, int64_t k) { return ((const XLA_FFI_Buffer *)buffers[k])->data; }

/* Fills the structure that a kernel is given, as kernel_text.py writes it: its words are all of 64 bits. */
static void fill(uint64_t *given, const attributes *of, const XLA_FFI_CallFrame *frame, unsigned char *memory)
{
    void *const *const results = frame->rets.rets;
    const int64_t count = (int64_t)of->places->size, *const places = of->places->data;
    for (int64_t k = 0; k < count; k++) {
        const int64_t place = places[k];
        given[k] = (uintptr_t)(place < 0 ? data_of(results, -1 - place) : data_of(frame->args.args, place));
        given[count + k] = (uint64_t)of->rows[k];
    }
    given[2 * count] = (uint64_t)of->launch[3];
    given[2 * count + 1] = (uintptr_t)data_of(results, frame->rets.size - 1);
    given[2 * count + 2] = (uintptr_t)(memory + BARRIER_BYTES);
    given[2 * count + 3] = (uintptr_t)memory;
}

static int loaded_function(handle *function, const attributes *of, char *message)
{
    char *const name = malloc(of->name->len + 1);
    if (!name) return snprintf(message, MESSAGE_BYTES, "no memory"), 0;
    memcpy(name, of->name->ptr, of->name->len);
    name[of->name->len] = 0;
    pthread_mutex_lock(&lock);
    const int done = function_of(function, of->key->ptr, of->key->len, of->code->data, name, (int)of->launch[2],
                                 message);
    pthread_mutex_unlock(&lock);
    free(name);
    return done;
}

static int launch_here(const attributes *of, const XLA_FFI_CallFrame *frame, handle stream, uint64_t *given,
                       char *message)
{
    handle function = 0;
    if (!loaded_function(&function, of, message)) return 0;
    unsigned char *const memory = data_of(frame->rets.rets, frame->rets.size - 2);
    fill(given, of, frame, memory);
    TRY(cuMemsetD8Async((uintptr_t)memory, 0, BARRIER_BYTES, stream));
    /* the driver copies the arguments before it returns */
    void *arguments[] = {given};
    const int64_t *const sizes = of->launch;
    TRY(cuLaunchCooperativeKernel(function, (unsigned)sizes[0], 1, 1, (unsigned)sizes[1], 1, 1, (unsigned)sizes[2],
                                  stream, arguments));
    return 1;
}

/* Launches the kernel that a call names, in the context of its stream. */
static int launch(const XLA_FFI_CallFrame *frame, handle stream, char *message)
{
    attributes of;
    handle context = 0;
    if (!attributes_of(&of, &frame->attrs, message)) return 0;
    pthread_mutex_lock(&lock);
    const int is_loaded = load_driver(message);
    pthread_mutex_unlock(&lock);
    if (!is_loaded) return 0;
    if (stream) {
        TRY(cuStreamGetCtx(stream, &context));
        TRY(cuCtxPushCurrent(context));
    }
    uint64_t *const given = malloc((2 * of.places->size + 4) * sizeof *given);
    if (!given) snprintf(message, MESSAGE_BYTES, "no memory");
    const int done = given && launch_here(&of, frame, stream, given, message);
    free(given);
    if (stream) driver.cuCtxPopCurrent(&context);
    return done;
}

/* XLA asks a handler once for the version of its interface. */
static int is_asked_for_version(XLA_FFI_CallFrame *frame)
{
    /* the name of the type has changed between versions of the header */
    for (__typeof__(frame->extension_start) one = frame->extension_start; one; one = one->next) {
        if (one->type != XLA_FFI_Extension_Metadata) continue;
        XLA_FFI_Metadata *const known = ((XLA_FFI_Metadata_Extension *)one)->metadata;
        known->api_version.major_version = XLA_FFI_API_MAJOR;
        known->api_version.minor_version = XLA_FFI_API_MINOR;
        known->traits = 0;
        return 1;
    }
    return 0;
}

static handle stream_of(const XLA_FFI_CallFrame *frame)
{
    XLA_FFI_Stream_Get_Args asked = {.struct_size = XLA_FFI_Stream_Get_Args_STRUCT_SIZE, .ctx = frame->ctx};
    XLA_FFI_Error *const error = frame->api->XLA_FFI_Stream_Get(&asked);
    if (!error) return asked.stream;
    /* a host has none: its stand-in for a device runs at once */
    XLA_FFI_Error_Destroy_Args gone = {.struct_size = XLA_FFI_Error_Destroy_Args_STRUCT_SIZE, .error = error};
    frame->api->XLA_FFI_Error_Destroy(&gone);
    return 0;
}

/* Runs a loop's kernel in a program of XLA. */
XLA_FFI_Error *tl_loop(XLA_FFI_CallFrame *frame)
{
    if (is_asked_for_version(frame) || frame->stage != XLA_FFI_ExecutionStage_EXECUTE) return 0;
    char message[MESSAGE_BYTES] = "no memory";
    if (launch(frame, stream_of(frame), message)) return 0;
    XLA_FFI_Error_Create_Args error = {
        .struct_size = XLA_FFI_Error_Create_Args_STRUCT_SIZE,
        .message = message,
        .errc = XLA_FFI_Error_Code_INTERNAL,
    };
    return frame->api->XLA_FFI_Error_Create(&error);
}
