/* What a sampler is given: the functions of a model, and how many numbers a point and a draw have.
 * `theano/pymc/density.py` writes it. */
#ifndef TN_SAMPLER_H
#define TN_SAMPLER_H

#include "tn_function.h"

typedef struct {
    /* point -> density, gradient */
    const tn_function *density;
    /* point -> each value that is kept of it */
    const tn_function *draw;
    uint64_t count, expanded, kept;
    /* Of each kept value, its number of dimensions and its lengths. */
    int64_t shapes[];
} tn_sampled;

int64_t tn_sampler_density(uint64_t count, const double *point, double *gradient, double *density,
                           const tn_sampled *model);
int64_t tn_sampler_draw(uint64_t count, uint64_t expanded, const double *point, double *draw,
                        const tn_sampled *model);

#endif
