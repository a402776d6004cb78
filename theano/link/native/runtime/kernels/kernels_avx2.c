/* Kernels for x86 processors with AVX2 and fused multiply-add. */
#if defined(__x86_64__)
#define TN_FAMILY tn_kernels_avx2
#define TN_FAMILY_NAME "avx2"
#define TN_TARGET __attribute__((target("avx2,fma")))
#define TN_VECTOR_BYTES 32
#define TN_TILE_ROWS 6
#define TN_TILE_VECTORS 2
#include "kernel_family.inc"
#endif
