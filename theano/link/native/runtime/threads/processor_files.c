/* How many threads are best for products, by the files in which Linux describes processors and control groups. */
#if defined(__linux__)
#include "../platform.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PROCESSORS = 1024, MOST_LINE = 4096 };

static int holds(const tn_processor_set *set, int processor)
{
    return (int)(set->words[processor / 64] >> (processor % 64) & 1);
}

__attribute__((format(printf, 2, 3))) static FILE *opened(const char *root, const char *format, ...)
{
    char path[2 * MOST_LINE];
    int length = snprintf(path, sizeof path, "%s", root);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(path + length, sizeof path - (size_t)length, format, arguments);
    va_end(arguments);
    return fopen(path, "r");
}

/* The number that a file begins with, or -1. */
static long number_in(FILE *file)
{
    long number = -1;
    if (!file)
        return -1;
    if (fscanf(file, "%ld", &number) != 1)
        number = -1;
    fclose(file);
    return number;
}

/* The processors of a list such as 0-3,8; none where there is no file. */
static tn_processor_set set_in(FILE *file)
{
    tn_processor_set set = {{0}};
    int first, last;
    while (file && fscanf(file, "%d", &first) == 1) {
        last = first;
        if (fscanf(file, "-%d", &last) != 1)
            last = first;
        for (int k = first < 0 ? 0 : first; k <= last && k < MOST_PROCESSORS; k++)
            set.words[k / 64] |= (uint64_t)1 << (k % 64);
        if (fgetc(file) != ',')
            break;
    }
    if (file)
        fclose(file);
    return set;
}

/* ---- Processors. ---- */

/* Whether a processor stands for its core: the first of those that are allowed and share its arithmetic units, of
 * which one thread of a product leaves nothing to another. */
static int is_first_of_core(const char *root, int processor, const tn_processor_set *allowed)
{
    tn_processor_set siblings =
        set_in(opened(root, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", processor));
    for (int k = 0; k < processor; k++)
        if (holds(&siblings, k) && holds(allowed, k))
            return 0;
    return 1;
}

static int by_size(const void *a, const void *b)
{
    long one = *(const long *)a, other = *(const long *)b;
    return (one < other) - (one > other);
}

/* Of cores of unlike speeds as many as do most together: threads have equal parts, and wait for the slowest. */
static int fastest_together(long *speeds, int count)
{
    int best = count;
    double most = 0;
    qsort(speeds, (size_t)count, sizeof *speeds, by_size);
    for (int k = 0; k < count; k++) {
        double together = (double)speeds[k] * (k + 1);
        if (together > most) {
            most = together;
            best = k + 1;
        }
    }
    return best;
}

static int cores_worth_a_thread(const char *root, const tn_processor_set *allowed)
{
    static const long unknown = 1024, of_an_efficient = 1;
    long speeds[MOST_PROCESSORS];
    int count = 0;
    /* Intel's efficient cores have no speed of their own before Linux 6.12 */
    tn_processor_set efficient = set_in(opened(root, "/sys/devices/cpu_atom/cpus"));
    for (int k = 0; k < MOST_PROCESSORS; k++) {
        if (!holds(allowed, k) || !is_first_of_core(root, k, allowed))
            continue;
        long speed = number_in(opened(root, "/sys/devices/system/cpu/cpu%d/cpu_capacity", k));
        speeds[count++] = speed > 0 ? speed : holds(&efficient, k) ? of_an_efficient : unknown;
    }
    return fastest_together(speeds, count);
}

/* ---- Control groups. ---- */

/* The least of the processors that are paid for and those of a quota, of which a part counts as one. */
static int with_quota(int paid, double quota, double period)
{
    int whole = quota > 0 && period > 0 ? (int)(quota / period + 0.999) : 0;
    if (whole <= 0)
        return paid;
    return paid == 0 || whole < paid ? whole : paid;
}

/* What a group of the second version pays for, and of the first, which has two files. */
static int paid_by(const char *root, const char *controllers, const char *group, int paid)
{
    double quota = 0, period = 0;
    FILE *file = controllers[0] ? NULL : opened(root, "/sys/fs/cgroup%s/cpu.max", group);
    if (file) {
        if (fscanf(file, "%lf %lf", &quota, &period) != 2)
            quota = 0;
        fclose(file);
    } else if (controllers[0]) {
        const char *names[] = {controllers, "cpu"};
        for (int k = 0; k < 2 && quota <= 0; k++) {
            quota = (double)number_in(
                opened(root, "/sys/fs/cgroup/%s%s/cpu.cfs_quota_us", names[k], group));
            period = (double)number_in(
                opened(root, "/sys/fs/cgroup/%s%s/cpu.cfs_period_us", names[k], group));
        }
    }
    return with_quota(paid, quota, period);
}

/* Whether a list of controllers has that of processor time. */
static int has_cpu(const char *controllers)
{
    for (const char *at = controllers; at; at = strchr(at, ',')) {
        at += *at == ',';
        if (!strncmp(at, "cpu", 3) && (at[3] == ',' || !at[3]))
            return 1;
    }
    return 0;
}

/* Processors that the control groups of this process pay for, its own and those around it; 0: no limit. */
static int processors_paid(const char *root)
{
    char line[MOST_LINE];
    int paid = 0;
    FILE *groups = opened(root, "/proc/self/cgroup");
    while (groups && fgets(line, sizeof line, groups)) {
        char *controllers = strchr(line, ':'), *group = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!group)
            continue;
        *group++ = 0;
        controllers++;
        group[strcspn(group, "\n")] = 0;
        if (controllers[0] && !has_cpu(controllers))
            continue;
        /* a container may show the path of its host's: what it has itself is at the root */
        for (char *end = group + strlen(group); end >= group; end--)
            if (!*end || *end == '/') {
                *end = 0;
                paid = paid_by(root, controllers, group, paid);
            }
    }
    if (groups)
        fclose(groups);
    else
        paid = paid_by(root, "", "", paid);
    return paid;
}

int tn_processors_by_files(const char *root, const tn_processor_set *allowed)
{
    int cores = cores_worth_a_thread(root, allowed), paid = processors_paid(root);
    return paid > 0 && paid < cores ? paid : cores;
}
#endif
