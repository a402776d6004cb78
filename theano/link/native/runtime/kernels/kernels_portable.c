/* Kernels for any processor: vectors of 16 bytes, which are NEON's on aarch64. */
#define TN_FAMILY tn_kernels_portable
#define TN_TARGET
#define TN_VECTOR_BYTES 16
#if defined(__aarch64__)
#define TN_FAMILY_NAME "neon"
#define TN_TILE_ROWS 6
#define TN_TILE_VECTORS 4
#else
#define TN_FAMILY_NAME "portable"
#define TN_TILE_ROWS 4
#define TN_TILE_VECTORS 2
#endif
#include "kernel_family.inc"
