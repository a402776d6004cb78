/* Denormals read and written as zeros, for this thread. */
#include "runtime.h"

#if defined(__x86_64__)

/* MXCSR: flush to zero (bit 15) and denormals are zeros (bit 6). */
#define TN_FLUSH 0x8040u

unsigned tn_flush_denormals_begin(void)
{
    unsigned saved = __builtin_ia32_stmxcsr();
    if ((saved & TN_FLUSH) != TN_FLUSH)
        __builtin_ia32_ldmxcsr(saved | TN_FLUSH);
    return saved & TN_FLUSH;
}

void tn_flush_denormals_end(unsigned saved)
{
    unsigned now = __builtin_ia32_stmxcsr();
    if ((now & TN_FLUSH) != saved)
        __builtin_ia32_ldmxcsr((now & ~TN_FLUSH) | saved);
}

#elif defined(__aarch64__)

/* FPCR: flush to zero (bit 24), inputs and outputs. */
#define TN_FLUSH (1ull << 24)

unsigned tn_flush_denormals_begin(void)
{
    uint64_t saved;
    __asm__ volatile("mrs %0, fpcr" : "=r"(saved));
    __asm__ volatile("msr fpcr, %0" : : "r"(saved | TN_FLUSH));
    return (unsigned)(saved & TN_FLUSH);
}

void tn_flush_denormals_end(unsigned saved)
{
    uint64_t now;
    __asm__ volatile("mrs %0, fpcr" : "=r"(now));
    __asm__ volatile("msr fpcr, %0" : : "r"((now & ~TN_FLUSH) | saved));
}

#else

unsigned tn_flush_denormals_begin(void) { return 0; }

void tn_flush_denormals_end(unsigned saved) { (void)saved; }

#endif
