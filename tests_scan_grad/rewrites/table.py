"""The recipes that make graphs for each rewrite, and the rewrites that have none."""

from __future__ import annotations

import sys

from tests_scan_grad.rewrites.making import RECIPES, Recipe
from tests_scan_grad.rewrites.recipes import __all__ as _families

assert _families

# rewrites without recipes, and why
NOT_COMPARED: dict[str, str] = {
    "forget_normal_forms": "replaces nothing: it frees memory",
    "lines_kept": "replaces nothing: it gives lines to what others put into a graph",
    "optimize_inner_graph": "runs the mode's own rewrites on the functions that SciPy minimizes",
}

# rewrites that one of the releases of PyTensor has
BEFORE_3_3 = frozenset(
    {
        "generic_solve_to_solve_triangular",
        "local_dot22_to_ger_or_gemv",
        "local_gemm_to_ger",
        "local_inplace_AdvancedIncSubtensor1",
        "local_inplace_ger",
        "local_log_sqrt",
        "local_logit_sigmoid",
        "local_mul_zero",
        "local_opt_alloc",
        "local_replace_AdvancedSubtensor",
        "local_useless_AdvancedSubtensor1",
        "make_c_ger_destructive",
        "svd_of_diag",
        "use_c_ger",
        "useless_Deg2rad_of_Rad2deg",
        "useless_Rad2deg_of_Deg2rad",
    }
)
SINCE_3_3 = frozenset(
    {
        "cho_solve_quadratic_form_to_whitened",
        "local_abs_mul_unit",
        "local_advanced_subtensor_of_dot",
        "local_dot22_to_gemv",
        "local_careduce_of_alloc",
        "local_drain_specify_assumptions",
        "local_exp_log_softmax",
        "local_inv_odds_sigmoid",
        "local_log_softmax_from_logsumexp",
        "local_log_sqrt_sqr",
        "local_odds_sigmoid",
        "local_sign_prod",
        "local_sign_unit",
        "local_sort_under_reduce",
        "local_useless_abs",
        "local_useless_sign",
        "svd_of_structured",
    }
)
OF_OTHER_RELEASE = BEFORE_3_3 if sys.version_info >= (3, 12) else SINCE_3_3


def recipes_for(rewrite: str) -> list[Recipe]:
    """The recipes whose graphs are made for a rewrite."""
    return [recipe for recipe in RECIPES.values() if rewrite in recipe.rewrites]
