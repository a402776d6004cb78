/* CUDA's driver on the host: a module is a library that a compiler made of a kernel with stand_in.h. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef void (*launch_given)(const void *given, int blocks, int absent, int64_t own_bytes);
typedef struct {
    launch_given run;
    int64_t own_bytes;
} stand_in_function;

/* What tests ask: how many kernels were loaded and launched, how many pieces of memory are in use. What they set:
 * how many blocks of a kernel fit on a multiprocessor, and how many of those launched never start. */
extern "C" {
int loaded, launched, allocated, fitting = 1, absent;
}
static int begun, retained;

#define CALL(name, ...) extern "C" int name(__VA_ARGS__)
/* what the driver returns for what is not valid, and before it is initialized */
enum { INVALID = 1, NOT_BEGUN = 3 };

CALL(cuInit, unsigned flags) { return flags ? INVALID : (begun = 1, 0); }
CALL(cuDeviceGet, int *device, int number) { return begun ? (*device = number, 0) : NOT_BEGUN; }
CALL(cuDeviceGetName, char *name, int size, int) { return strncpy(name, "the host", size), 0; }
CALL(cuDeviceGetAttribute, int *value, int which, int)
{
    *value = which == 1 ? 2 : which == 16 ? 3 : which == 75 ? 9 : which == 97 ? 232448 : 0;
    return 0;
}
CALL(cuDevicePrimaryCtxRetain, void **context, int) { return *context = &retained, retained++, 0; }
CALL(cuDevicePrimaryCtxRelease_v2, int) { return retained--, 0; }
CALL(cuCtxSetCurrent, void *context) { return context == &retained ? 0 : INVALID; }
CALL(cuCtxSynchronize, void) { return retained > 0 ? 0 : NOT_BEGUN; }
CALL(cuModuleLoadData, void **module, const char *path)
{
    *module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    return *module ? 0 : INVALID;
}
CALL(cuModuleGetFunction, void **found, void *module, const char *)
{
    /* it lives as long as the process, as the library does */
    stand_in_function *const function = (stand_in_function *)calloc(1, sizeof *function);
    function->run = (launch_given)dlsym(module, "launch_given");
    *found = function;
    return function->run ? loaded++, 0 : INVALID;
}
CALL(cuFuncSetAttribute, stand_in_function *of, int which, int value)
{
    return which == 8 ? (of->own_bytes = value, 0) : INVALID;
}
CALL(cuMemAlloc_v2, uint64_t *address, size_t bytes)
{
    *address = (uint64_t)malloc(bytes);
    return allocated++, memset((void *)*address, 0xff, bytes), 0;
}
CALL(cuMemFree_v2, uint64_t address) { return allocated--, free((void *)address), 0; }
CALL(cuMemcpyHtoD_v2, uint64_t to, const void *from, size_t bytes) { return memcpy((void *)to, from, bytes), 0; }
CALL(cuMemcpyDtoH_v2, void *to, uint64_t from, size_t bytes) { return memcpy(to, (void *)from, bytes), 0; }
CALL(cuLaunchCooperativeKernel, stand_in_function *of, unsigned x, unsigned y, unsigned z, unsigned lanes_x,
     unsigned lanes_y, unsigned lanes_z, unsigned own_bytes, void *stream, void **given)
{
    if (x > 3 || y != 1 || z != 1 || !lanes_x || lanes_y != 1 || lanes_z != 1 || stream) return INVALID;
    /* more than 48 KB have to be asked for */
    if (own_bytes > 49152 && own_bytes > of->own_bytes) return INVALID;
    of->run(given[0], (int)x, absent, own_bytes ? own_bytes : 1);
    return launched++, 0;
}

/* What the handler of XLA calls besides: a host's stream is none, so that it asks for no stream's context. */
CALL(cuGetErrorString, int code, const char **text) { return *text = code == INVALID ? "not valid" : "an error", 0; }
CALL(cuCtxGetCurrent, void **context) { return *context = &retained, 0; }
CALL(cuCtxPushCurrent_v2, void *context) { return context == &retained ? 0 : INVALID; }
CALL(cuCtxPopCurrent_v2, void **context) { return *context = &retained, 0; }
CALL(cuStreamGetCtx, void *, void **) { return INVALID; }
CALL(cuOccupancyMaxActiveBlocksPerMultiprocessor, int *blocks, stand_in_function *of, int lanes, size_t own_bytes)
{
    *blocks = fitting;
    return of->run && lanes > 0 && (int64_t)own_bytes <= 232448 ? 0 : INVALID;
}
CALL(cuMemsetD8Async, uint64_t at, unsigned char value, size_t bytes, void *stream)
{
    return memset((void *)at, value, bytes), stream ? INVALID : 0;
}
