/* The names that a kernel is written in, on a device: a block runs a part of each statement, its lanes run
 * the elements. Whoever compiles a kernel for another machine defines TK_STAND_IN as the file to
 * include in place of this one. */
#ifdef __CUDACC_RTC__
typedef long long int64_t;
typedef unsigned long long uint64_t;
#else
#include <math.h>
#include <stdint.h>
#endif

#define TK_KERNEL(name, lanes) extern "C" __global__ void __launch_bounds__(lanes, 1) name
#define TK_DEVICE __device__ __forceinline__
#define TK_INLINE static TK_DEVICE
#define TK_LANE ((int)threadIdx.x)
#define TK_BLOCK ((int)blockIdx.x)
#define TK_SHARED extern __shared__ __align__(16) unsigned char tk_shared[];
#define TK_ALIGNED(bytes) __align__(bytes)
#define TK_UNROLL _Pragma("unroll")
#define TK_UNROLL_BY(count) TK_PRAGMA(unroll count)
#define TK_PRAGMA(text) _Pragma(#text)

/* Each kernel needs only some of what stands before it. */
#pragma nv_diag_suppress 177

/* All lanes of a block wait for one another; TK_ANY says to all of them whether it holds for one. */
#define TK_SYNC __syncthreads();
#define TK_ANY(condition) __syncthreads_or(condition)

/* How often a block looks whether the others have arrived before it gives up: some ten seconds. */
#define TK_PATIENCE (1 << 24)

TK_INLINE unsigned tk_seen(const unsigned *word)
{
    unsigned seen;
    asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(seen) : "l"(word) : "memory");
    return seen;
}

TK_INLINE void tk_arrive(unsigned *word)
{
    __threadfence();
    atomicAdd(word, 1u);
}

TK_INLINE void tk_raise(unsigned *word) { atomicExch(word, 1u); }

TK_INLINE void tk_relax() {}

/* What GCC and clang have built in, and a device's compiler has under other names. */
#define __builtin_nan(text) ((double)NAN)
#define __builtin_inf() ((double)INFINITY)
#ifdef __CUDACC_RTC__
#define NAN __int_as_float(0x7fffffff)
#define INFINITY __int_as_float(0x7f800000)
#endif
#define __builtin_ceil ceil
#define __builtin_ceilf ceilf
#define __builtin_exp exp
#define __builtin_expf expf
#define __builtin_expm1 expm1
#define __builtin_expm1f expm1f
#define __builtin_floor floor
#define __builtin_floorf floorf
#define __builtin_log log
#define __builtin_logf logf
#define __builtin_log1p log1p
#define __builtin_log1pf log1pf
#define __builtin_rint rint
#define __builtin_rintf rintf
#define __builtin_round round
#define __builtin_roundf roundf
#define __builtin_sqrt sqrt
#define __builtin_sqrtf sqrtf
#define __builtin_tanh tanh
#define __builtin_tanhf tanhf
#define __builtin_trunc trunc
#define __builtin_truncf truncf
#define __builtin_j0 j0
#define __builtin_j0f j0f
#define __builtin_j1 j1
#define __builtin_j1f j1f
#define __builtin_pow pow
#define __builtin_powf powf
#define __builtin_fabs fabs
#define __builtin_fabsf fabsf
#define __builtin_atan2 atan2
#define __builtin_atan2f atan2f
