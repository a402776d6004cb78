/* Windows of images: where they lie, and frames, which hold the numbers that some of them cover.
 *
 * A frame has its lines in phases: those that windows whose positions are a step apart see at the same tap
 * lie side by side. So a tap of windows at neighbouring positions is a run of neighbouring numbers, whatever
 * the step; and zeros stand where windows reach beyond the image.
 */
#ifndef TN_WINDOWS_H
#define TN_WINDOWS_H

#include "../runtime.h"

/* From low to high, both included, along each axis. */
typedef struct {
    int64_t low[3], high[3];
} tn_box;

/* Of one channel: the positions and taps whose numbers it has, and along each axis how many phases of how
 * many lines, and the elements from line to line. */
typedef struct {
    tn_box positions, taps;
    int64_t phases[3], lines[3], strides[3], numbers;
} tn_frame;

/* Windows side by side along the last axis: where in a frame the first of them is, and how many. */
typedef struct {
    int64_t at, count;
} tn_run;

/* Numbers of a frame that no work memory has. */
#define TN_TOO_MANY ((int64_t)1 << 40)

static inline int64_t tn_least(int64_t a, int64_t b) { return a < b ? a : b; }

static inline int64_t tn_count_of(const tn_axis axes[3])
{
    return axes[0].count * axes[1].count * axes[2].count;
}

static inline int64_t tn_taps_of(const tn_axis axes[3])
{
    return axes[0].taps * axes[1].taps * axes[2].taps;
}

static inline int64_t tn_length_of(const tn_axis axes[3])
{
    return axes[0].length * axes[1].length * axes[2].length;
}

/* The box of the items [first, end) of an array of such sizes. */
static inline tn_box tn_box_of(int64_t n1, int64_t n2, int64_t first, int64_t end)
{
    int64_t last = end - 1;
    tn_box box = {{first / (n1 * n2), first / n2 % n1, first % n2},
                  {last / (n1 * n2), last / n2 % n1, last % n2}};
    for (int a = 1; a < 3; a++)
        if (box.low[a - 1] != box.high[a - 1] || (a == 2 && box.low[0] != box.high[0])) {
            box.low[a] = 0;
            box.high[a] = (a == 1 ? n1 : n2) - 1;
        }
    return box;
}

/* The frame of windows in a box, for taps in a box. */
static inline tn_frame tn_frame_of(const tn_axis axes[3], tn_box positions, tn_box taps)
{
    tn_frame frame = {.positions = positions, .taps = taps};
    int64_t stride = 1;
    for (int a = 2; a >= 0; a--) {
        int64_t step = axes[a].step, span = taps.high[a] - taps.low[a], phases = 1;
        for (int64_t i = 1; step > 1 && i <= span && i < step; i++)
            if (i * axes[a].dilation % step >= phases)
                phases = i * axes[a].dilation % step + 1;
        frame.phases[a] = phases;
        frame.lines[a] =
            positions.high[a] - positions.low[a] + span * axes[a].dilation / step + 1;
        frame.strides[a] = stride;
        if ((double)stride * (double)phases * (double)frame.lines[a] > (double)TN_TOO_MANY) {
            frame.numbers = TN_TOO_MANY;
            return frame;
        }
        stride *= phases * frame.lines[a];
    }
    frame.numbers = stride;
    return frame;
}

/* The image itself as a frame, which it is where windows are one apart and none reaches beyond it. */
static inline tn_frame tn_whole_image(const tn_axis axes[3])
{
    return (tn_frame){.phases = {1, 1, 1},
                      .lines = {axes[0].length, axes[1].length, axes[2].length},
                      .strides = {axes[1].length * axes[2].length, axes[2].length, 1},
                      .numbers = tn_length_of(axes)};
}

static inline int tn_is_own_frame(const tn_axis axes[3])
{
    for (int a = 0; a < 3; a++)
        if (axes[a].step != 1 || axes[a].before != 0 ||
            axes[a].count + (axes[a].taps - 1) * axes[a].dilation > axes[a].length)
            return 0;
    return 1;
}

/* Where the number lies that a tap of the window at position 0 of the frame sees. */
static inline int64_t tn_tap_at(const tn_axis axes[3], const tn_frame *frame, const int64_t tap[3])
{
    int64_t at = 0;
    for (int a = 0; a < 3; a++) {
        int64_t line = (tap[a] - frame->taps.low[a]) * axes[a].dilation;
        if (axes[a].step != 1)
            line = line % axes[a].step * frame->lines[a] + line / axes[a].step;
        at += line * frame->strides[a];
    }
    return at;
}

/* The windows at positions [first, end) in runs; returns how many runs. */
static inline int64_t tn_runs_of(const tn_axis axes[3], const tn_frame *frame, int64_t first,
                                 int64_t end, tn_run *runs)
{
    int64_t n1 = axes[1].count, n2 = axes[2].count, found = 0;
    int64_t o0 = first / (n1 * n2), o1 = first / n2 % n1, o2 = first % n2;
    while (first < end) {
        int64_t count = tn_least(n2 - o2, end - first);
        runs[found++] = (tn_run){(o0 - frame->positions.low[0]) * frame->strides[0] +
                                     (o1 - frame->positions.low[1]) * frame->strides[1] + o2 -
                                     frame->positions.low[2],
                                 count};
        first += count;
        o2 = 0;
        if (++o1 == n1) {
            o1 = 0;
            o0++;
        }
    }
    return found;
}

/* The same for windows of neighbouring images, each of `count` positions and so far in the frame from the one
 * before it; of one image they may be any. */
static inline int64_t tn_runs_of_images(const tn_axis axes[3], const tn_frame *frame,
                                        int64_t image_stride, int64_t first, int64_t end,
                                        tn_run *runs)
{
    int64_t positions = tn_count_of(axes), found = 0;
    while (first < end) {
        int64_t image = first / positions, start = image * positions;
        int64_t to = tn_least(end, start + positions);
        int64_t more = tn_runs_of(axes, frame, first - start, to - start, runs + found);
        for (int64_t k = found; k < found + more; k++)
            runs[k].at += image * image_stride;
        found += more;
        first = to;
    }
    return found;
}

/* The next tap, in order. */
static inline void tn_next_tap(const tn_axis axes[3], int64_t tap[3])
{
    for (int a = 2; a >= 0; a--) {
        if (++tap[a] < axes[a].taps)
            return;
        tap[a] = 0;
    }
}

#endif
