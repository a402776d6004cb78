/* Kernels for x86 processors with AVX-512. */
#if defined(__x86_64__)
#define TN_FAMILY tn_kernels_avx512
#define TN_FAMILY_NAME "avx512"
#define TN_TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")))
#define TN_VECTOR_BYTES 64
#if !defined(__clang__)
#define TN_AVX512
#endif
#define TN_TILE_ROWS 12
#define TN_TILE_VECTORS 2
#include "kernel_family.inc"
#endif
