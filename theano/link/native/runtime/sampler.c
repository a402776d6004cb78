/* A model's two functions as samplers such as nutpie call them: by pointers, without lengths. */
#include "sampler.h"

#include <stddef.h>
#include <stdlib.h>

/* What nuts-rs takes: a negative result ends the run, a positive one rejects the point. */
enum { REJECTED = 1, ODD_GRADIENT = 3, ODD_DENSITY = 4 };
enum { OTHER_LENGTH = -1, NO_DRAW = -2, OTHER_SHAPE = -3, RAISED = -4 };

static int is_finite(double x) { return x - x == 0; }

int64_t tn_sampler_density(uint64_t count, const double *point, double *gradient, double *density,
                           const tn_sampled *model)
{
    if (count != model->count)
        return OTHER_LENGTH;
    int64_t length = (int64_t)count, written;
    tn_given input = {point, &length};
    tn_made results[2] = {
        {density, sizeof *density, NULL},
        {gradient, length * (int64_t)sizeof *gradient, &written},
    };
    int64_t status = tn_call(model->density, &input, results);
    if (status)
        return status == TN_RAISED ? RAISED : REJECTED;
    for (int64_t k = 0; k < length; k++)
        if (!is_finite(gradient[k]))
            return ODD_GRADIENT;
    return is_finite(*density) ? 0 : ODD_DENSITY;
}

/* Where each kept value of a draw goes, one after the other, and where its lengths are written. */
static void lay_out(const tn_sampled *model, double *draw, tn_made *results, int64_t *lengths)
{
    const int64_t *shape = model->shapes;
    for (uint64_t k = 0; k < model->kept; k++) {
        int64_t ndim = *shape++, elements = 1;
        for (int64_t d = 0; d < ndim; d++)
            elements *= *shape++;
        results[k] = (tn_made){draw, elements * (int64_t)sizeof *draw, lengths};
        draw += elements;
        lengths += ndim;
    }
}

/* Whether each kept value has its shape: a shorter one would leave room that is another's. */
static int has_its_shapes(const tn_sampled *model, const int64_t *lengths)
{
    const int64_t *shape = model->shapes;
    for (uint64_t k = 0; k < model->kept; k++)
        for (int64_t ndim = *shape++; ndim > 0; ndim--)
            if (*shape++ != *lengths++)
                return 0;
    return 1;
}

int64_t tn_sampler_draw(uint64_t count, uint64_t expanded, const double *point, double *draw,
                        const tn_sampled *model)
{
    if (count != model->count || expanded != model->expanded)
        return OTHER_LENGTH;
    int64_t length = (int64_t)count, dimensions = 0;
    const int64_t *shape = model->shapes;
    for (uint64_t k = 0; k < model->kept; k++) {
        dimensions += *shape;
        shape += 1 + *shape;
    }
    /* at least a byte, which malloc may not have for nothing */
    tn_made *results =
        malloc(model->kept * sizeof *results + (size_t)dimensions * sizeof length + 1);
    if (!results)
        return NO_DRAW;
    int64_t *lengths = (int64_t *)(results + model->kept);
    lay_out(model, draw, results, lengths);
    tn_given input = {point, &length};
    int64_t result = 0;
    if (tn_call(model->draw, &input, results))
        result = NO_DRAW;
    else if (!has_its_shapes(model, lengths))
        result = OTHER_SHAPE;
    free(results);
    return result;
}
