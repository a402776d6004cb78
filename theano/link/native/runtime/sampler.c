/* A model's two functions as samplers such as nutpie call them: by pointers, without lengths. */
#include "sampler.h"

#include <stddef.h>

/* What nuts-rs takes: a negative answer ends the run, a positive one rejects the point. */
enum { REJECTED = 1, ODD_GRADIENT = 3, ODD_DENSITY = 4, OTHER_LENGTH = -1, NO_DRAW = -2 };

static int is_finite(double x) { return x - x == 0; }

int64_t tn_sampler_density(uint64_t count, const double *point, double *gradient, double *density,
                           const tn_sampled *model)
{
    if (count != model->count)
        return OTHER_LENGTH;
    int64_t length = (int64_t)count, told;
    tn_given input = {point, &length};
    tn_made results[2] = {
        {density, sizeof *density, NULL},
        {gradient, length * (int64_t)sizeof *gradient, &told},
    };
    if (tn_call(model->density, &input, results))
        return REJECTED;
    for (int64_t k = 0; k < length; k++)
        if (!is_finite(gradient[k]))
            return ODD_GRADIENT;
    return is_finite(*density) ? 0 : ODD_DENSITY;
}

int64_t tn_sampler_draw(uint64_t count, uint64_t expanded, const double *point, double *draw,
                        const tn_sampled *model)
{
    if (count != model->count || expanded != model->expanded)
        return OTHER_LENGTH;
    int64_t length = (int64_t)count, told;
    tn_given input = {point, &length};
    tn_made result = {draw, (int64_t)expanded * (int64_t)sizeof *draw, &told};
    return tn_call(model->draw, &input, &result) ? NO_DRAW : 0;
}
