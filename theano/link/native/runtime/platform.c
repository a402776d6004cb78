/* What systems do differently: see platform.h. Linux, other POSIX systems (macOS), and Windows. */
#if defined(__linux__)
#define _GNU_SOURCE
#endif
#include "platform.h"

#if defined(_WIN32)

#include <malloc.h>
#include <stdlib.h>
#include <windows.h>

void *tn_allocate_aligned(size_t alignment, size_t bytes) { return _aligned_malloc(bytes, alignment); }

void tn_free_aligned(void *memory) { _aligned_free(memory); }

/* There are no signals that a thread could be interrupted by. */
int tn_start_thread(pthread_t *thread, void *(*run)(void *argument), void *argument)
{
    return pthread_create(thread, NULL, run, argument);
}

uintptr_t tn_thread_number(void) { return GetCurrentThreadId(); }

void tn_after_fork(void (*in_child)(void)) { (void)in_child; }

/* Cores of the highest class of which a processor is in the mask, or in any group where there is no mask; 0 where
 * the system does not say. */
static int fast_cores(DWORD_PTR mask)
{
    DWORD size = 0;
    int count = 0, highest = -1;
    GetLogicalProcessorInformationEx(RelationProcessorCore, NULL, &size);
    char *all = malloc(size ? size : 1);
    if (all && GetLogicalProcessorInformationEx(
                   RelationProcessorCore, (SYSTEM_LOGICAL_PROCESSOR_INFORMATION_EX *)all, &size))
        for (DWORD at = 0; at < size;) {
            SYSTEM_LOGICAL_PROCESSOR_INFORMATION_EX *one = (void *)(all + at);
            const int class = one->Processor.EfficiencyClass;
            const GROUP_AFFINITY *where = &one->Processor.GroupMask[0];
            at += one->Size;
            if (mask && (where->Group != 0 || !(where->Mask & mask)))
                continue;
            if (class > highest) {
                highest = class;
                count = 0;
            }
            count += class == highest;
        }
    free(all);
    return count;
}

/* The mask is that of one group of up to 64; a process that may use more groups has no mask. */
int tn_processors(void)
{
    DWORD_PTR mine = 0, all = 0;
    int masked = GetProcessAffinityMask(GetCurrentProcess(), &mine, &all) && mine && mine != all;
    int count = fast_cores(masked ? mine : 0);
    if (count == 0)
        count = masked ? __builtin_popcountll(mine) : (int)GetActiveProcessorCount(ALL_PROCESSOR_GROUPS);
    return count > 0 ? count : 1;
}

#else

#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#if defined(__APPLE__)
#include <sys/sysctl.h>
#endif

void *tn_allocate_aligned(size_t alignment, size_t bytes)
{
    return aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}

void tn_free_aligned(void *memory) { free(memory); }

int tn_start_thread(pthread_t *thread, void *(*run)(void *argument), void *argument)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(thread, NULL, run, argument);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failed;
}

uintptr_t tn_thread_number(void) { return (uintptr_t)pthread_self(); }

void tn_after_fork(void (*in_child)(void)) { pthread_atfork(NULL, NULL, in_child); }

int tn_processors(void)
{
    int count = 0;
#if defined(__linux__)
    tn_processor_set allowed;
    cpu_set_t set;
    if (!sched_getaffinity(0, sizeof set, &set)) {
        memcpy(&allowed, &set, sizeof allowed);
        count = tn_processors_by_files("", &allowed);
    }
#elif defined(__APPLE__)
    size_t size = sizeof count;
    if (sysctlbyname("hw.perflevel0.physicalcpu", &count, &size, NULL, 0) &&
        sysctlbyname("hw.physicalcpu", &count, &size, NULL, 0))
        count = 0;
#endif
    if (count <= 0)
        count = (int)sysconf(_SC_NPROCESSORS_ONLN);
    return count > 0 ? count : 1;
}

#endif

#if defined(__linux__)

_Static_assert(sizeof(tn_processor_set) == sizeof(cpu_set_t), "a set of processors");

int tn_other_processors(tn_processor_set *allowed, tn_processor_set *others)
{
    cpu_set_t set;
    int mine = sched_getcpu();
    if (mine < 0 || sched_getaffinity(0, sizeof set, &set))
        return 0;
    memcpy(allowed, &set, sizeof set);
    CPU_CLR(mine, &set);
    memcpy(others, &set, sizeof set);
    return CPU_COUNT(&set) > 0;
}

int tn_keep_to_processors(pthread_t thread, const tn_processor_set *set)
{
    return !pthread_setaffinity_np(thread, sizeof *set, (const cpu_set_t *)set);
}

#else

int tn_other_processors(tn_processor_set *allowed, tn_processor_set *others)
{
    (void)allowed, (void)others;
    return 0;
}

int tn_keep_to_processors(pthread_t thread, const tn_processor_set *set)
{
    (void)thread, (void)set;
    return 0;
}

#endif

#if defined(__x86_64__)

#include <cpuid.h>

/* Bits that cpuid reports: in ecx of leaf 1, in ebx of leaf 7; and the state that the system keeps for threads. */
#define FMA_AND_STATE ((1u << 12) | (1u << 27))
#define AVX2 (1u << 5)
#define AVX512 ((1u << 16) | (1u << 17) | (1u << 30) | (1u << 31))
#define STATE_256 0x06u
#define STATE_512 0xe6u

/* Not by __builtin_cpu_supports, for which Zig has a library in which no processor has AVX. */
int tn_vector_bits(void)
{
    unsigned a, b, c, d, state, high;
    if (!__get_cpuid(1, &a, &b, &c, &d) || (c & FMA_AND_STATE) != FMA_AND_STATE)
        return 128;
    __asm__("xgetbv" : "=a"(state), "=d"(high) : "c"(0));
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || !(b & AVX2) || (state & STATE_256) != STATE_256)
        return 128;
    return (b & AVX512) == AVX512 && (state & STATE_512) == STATE_512 ? 512 : 256;
}

#else

int tn_vector_bits(void) { return 128; }

#endif
