/* What a sampler is given: the functions of a model, and how many numbers a point and a draw have.
 * `theano/pymc/compiled_model.py` writes it. */
#ifndef TN_SAMPLER_H
#define TN_SAMPLER_H

#include "tn_function.h"

typedef struct {
    /* point -> density, gradient */
    const tn_function *density;
    /* point -> all that is kept of it, one after the other */
    const tn_function *draw;
    uint64_t count, expanded;
} tn_sampled;

int64_t tn_sampler_density(uint64_t count, const double *point, double *gradient, double *density,
                           const tn_sampled *model);
int64_t tn_sampler_draw(uint64_t count, uint64_t expanded, const double *point, double *draw,
                        const tn_sampled *model);

#endif
