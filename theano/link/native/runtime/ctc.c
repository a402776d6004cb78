/* The cost of one sequence of activations with one of labels, and its gradient: connectionist temporal
 * classification (Graves, Fernandez, Gomez and Schmidhuber 2006, section 4.1), in logarithms.
 *
 * Labels have blanks between them and around: state 2 i + 1 is label i, and the other states are blanks.
 * A path stays in a state, goes to the next, or leaves out a blank between labels that differ.
 */
#include "runtime.h"

#include <math.h>
#include <string.h>

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Whether a path may come to this state from the one before the last. */
static int leaves_out_blank(const int64_t *labels, int64_t state)
{
    return (state & 1) && state > 1 && labels[state / 2] != labels[state / 2 - 1];
}

/* log(exp(a) + exp(b) + exp(c)) for each state; a gets it. room holds as many numbers. */
static void add_exponentials(int64_t states, double *a, double *b, double *c, double *room)
{
    for (int64_t s = 0; s < states; s++) {
        double most = a[s] > b[s] ? a[s] : b[s];
        most = c[s] > most ? c[s] : most;
        /* where all are zero, so is the sum */
        most = most > -INFINITY ? most : 0;
        a[s] -= most;
        b[s] -= most;
        c[s] -= most;
        room[s] = most;
    }
    tn_exp_f64(states, a, a);
    tn_exp_f64(states, b, b);
    tn_exp_f64(states, c, c);
    for (int64_t s = 0; s < states; s++)
        a[s] += b[s] + c[s];
    tn_log_f64(states, a, a);
    for (int64_t s = 0; s < states; s++)
        a[s] += room[s];
}

#define TN_REAL float
#define TN_NAME(name) name##_f32
#define TN_FUNCTION(name) tn_##name##_f32
#include "ctc.inc"
#undef TN_REAL
#undef TN_NAME
#undef TN_FUNCTION
#define TN_REAL double
#define TN_NAME(name) name##_f64
#define TN_FUNCTION(name) tn_##name##_f64
#include "ctc.inc"
