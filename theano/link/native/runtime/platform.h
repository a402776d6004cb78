/* What systems do differently: aligned memory, threads, processors, forks. Threads, locks and the clock are
 * POSIX's everywhere; on Windows MinGW has them, which Zig brings. */
#ifndef TN_PLATFORM_H
#define TN_PLATFORM_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

/* Memory at a multiple of a power of two, or NULL; only tn_free_aligned frees it. */
void *tn_allocate_aligned(size_t alignment, size_t bytes);
void tn_free_aligned(void *memory);

/* Start a thread; signals stay with the threads of the program. Returns 0 where it runs. */
int tn_start_thread(pthread_t *thread, void *(*run)(void *argument), void *argument);
/* The number by which Python knows the thread that calls. */
uintptr_t tn_thread_number(void);
/* Have a function called in each child process that is forked, where the system has forks. */
void tn_after_fork(void (*in_child)(void));

/* How many threads are best for products on the processors that this process may use, at least 1: one a core, since
 * threads of one core share its multiply-adds, without cores that are so slow that the others would wait for them,
 * and no more than the process is given time of. */
int tn_processors(void);

/* On x86, the bits of the vectors that the processor and the system have: 512 with AVX-512 (F, BW, DQ, VL), 256 with
 * AVX2, both with fused multiply-adds; else 128. */
int tn_vector_bits(void);

/* A set of processors, as Linux has it. */
typedef struct {
    uint64_t words[16];
} tn_processor_set;
/* The same on Linux, where the process may use these processors, by the files below a root. */
int tn_processors_by_files(const char *root, const tn_processor_set *allowed);
/* Those of this process, and of them all but the one that the caller runs on. Returns whether there are others, and
 * the system can keep threads to them. */
int tn_other_processors(tn_processor_set *allowed, tn_processor_set *others);
/* Keep a thread to some processors. Returns whether that was done. */
int tn_keep_to_processors(pthread_t thread, const tn_processor_set *set);

#endif
