"""Rate of a processor's multiply-adds, measured on numbers that never leave its registers."""

from __future__ import annotations

import ctypes
import time

from tests_scan_grad.timing.measuring.c_code import C_TYPES, compiled

# some milliseconds: shorter tries differ by a third
TURNS = 1_000_000

PROGRAM = """
#if defined(__AVX512F__)
#define BYTES 64
#elif defined(__AVX__)
#define BYTES 32
#else
#define BYTES 16
#endif
/* with the factor and the addend no more than there are registers: 32, or 16 */
#if defined(__AVX512F__) || defined(__aarch64__)
#define SUMS 24
#else
#define SUMS 12
#endif
typedef REAL vector __attribute__((vector_size(BYTES)));
long sums_of_turn(void) { return SUMS * (BYTES / (long)sizeof(REAL)); }
REAL multiply_add(long turns, REAL factor, REAL addend)
{
    vector sums[SUMS], all = {0};
    for (int k = 0; k < SUMS; k++) sums[k] = (vector){0} + (REAL)k;
    for (long turn = 0; turn < turns; turn++)
#pragma GCC unroll 32
        for (int k = 0; k < SUMS; k++) sums[k] = sums[k] * factor + addend;
    for (int k = 0; k < SUMS; k++) all += sums[k];
    return all[0];
}
"""


def limit(dtype: str) -> float:
    """Return the most multiplications and additions a second of one thread, the best of 5 tries.

    Raises
    ------
    TimingError
        If the C compiler of the native engine fails.
    """
    library = compiled(PROGRAM, f"-DREAL={C_TYPES[dtype]}", "-march=native")
    library.sums_of_turn.restype = ctypes.c_long
    real = {"float32": ctypes.c_float, "float64": ctypes.c_double}[dtype]
    library.multiply_add.restype = real
    arguments = ctypes.c_long(TURNS), real(0.999), real(0.001)
    least = float("inf")
    for _ in range(5):
        start = time.perf_counter()
        library.multiply_add(*arguments)
        least = min(least, time.perf_counter() - start)
    return 2 * TURNS * library.sums_of_turn() / least
