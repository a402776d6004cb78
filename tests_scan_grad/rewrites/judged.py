"""Differences after a rewrite that do not count as faults, with the reasons."""

from __future__ import annotations

from dataclasses import dataclass

from tests_scan_grad.rewrites.check import OF_ALL, Finding
from tests_scan_grad.rewrites.compare import (
    INFINITE,
    LOST_ERROR,
    MADE_FINITE,
    NEW_ERROR,
    NOT_FINITE,
    ROUNDED,
    SIGN,
    VALUES,
)
from tests_scan_grad.rewrites.listed import SEVERAL

# of every rewrite: numbers where there was no number, or fewer digits lost
ALLOWED = (MADE_FINITE, ROUNDED)


@dataclass(frozen=True)
class Judgement:
    """Findings that are no faults.

    Attributes
    ----------
    rewrites
        Their rewrites; none for all.
    kinds
        Their kinds.
    reason
        Why.
    recipe
        A word of the name of their recipes, if not of all.
    where
        The mode in which they are none, or "alone"; if not in all.
    """

    rewrites: tuple[str, ...]
    kinds: tuple[str, ...]
    reason: str
    recipe: str = ""
    where: str = ""


ONE_ZERO = "as Theano: constants 0 and -0 are one constant"
MORE_EXACT = "the difference from 1 is not taken, in which digits were lost"
SIGN_OF_ZERO = "a quotient that is -0 has the logarithm -inf, though its sign says that it has none"
AS_MANY_AS_NUMPY = "NumPy's functions take at most 32 operands"

ORDER_ONLY = "the other order is seen by reductions only, whose results are compared too"

JUDGED = (
    Judgement(("local_sort_under_reduce",), (VALUES,), ORDER_ONLY),
    Judgement(("explicit_casts",), (VALUES,), ORDER_ONLY, "reductions of what is sorted"),
    Judgement(("local_odds_sigmoid", "local_inv_odds_sigmoid"), (VALUES, NOT_FINITE), MORE_EXACT),
    Judgement((OF_ALL,), (VALUES, NOT_FINITE), MORE_EXACT, "sigmoids"),
    Judgement((), (SIGN,), ONE_ZERO),
    Judgement(
        ("split_2f1grad_loop", "local_useless_2f1grad_loop", "few_operands"),
        (LOST_ERROR,),
        AS_MANY_AS_NUMPY,
    ),
    Judgement(
        (
            "log1msigm_to_softplus",
            "log1p_neg_sigmoid",
            "logsigm_to_softplus",
            "local_log1p_plusminus_exp",
            "logdiffexp_to_log1mexpdiff",
            "logmexpm1_to_log1mexp",
        ),
        (VALUES, NOT_FINITE, INFINITE),
        MORE_EXACT,
    ),
    Judgement((OF_ALL,), (VALUES, NOT_FINITE, INFINITE), MORE_EXACT, "logarithms of"),
    Judgement((), (INFINITE,), SIGN_OF_ZERO, "logarithms of products"),
    Judgement(
        ("local_log1p", "local_add_neg_to_sub", "local_add_canonizer"),
        (VALUES,),
        "in modes casts are explicit, so that it computes in the dtype of the result",
        where="alone",
    ),
    Judgement(
        ("local_softmax_stabilize", "local_softmax_by_hand", OF_ALL),
        (NEW_ERROR,),
        "as Theano: the largest of no numbers is asked for",
        "softmaxes by hand",
    ),
    Judgement(
        ("local_log_sum_exp", OF_ALL),
        (NEW_ERROR,),
        "as Theano: the largest of no numbers is asked for",
        "logarithms of sums of exponentials",
    ),
    Judgement(
        ("eig_to_eigh", "qr_of_diag", "qz_of_diag", "svd_of_diag", "svd_of_structured", OF_ALL),
        (VALUES,),
        "factors are determined up to signs, eigenvalues up to their order",
        "diagonal matrices",
    ),
    Judgement(
        ("eig_to_eigh", "svd_of_diag", "svd_of_structured", "eigh_of_diag", OF_ALL),
        (VALUES,),
        "vectors are determined up to signs, eigenvalues up to their order",
        "eigenvalues and singular values",
    ),
    Judgement(
        ("local_blockwise_inc_subtensor", "local_blockwise_alloc_inputs"),
        (LOST_ERROR,),
        "lengths of 1 that are not static are broadcast, as NumPy does",
    ),
    Judgement(
        ("local_join_dims", "local_useless_reshape"),
        (LOST_ERROR,),
        "the length -1 of an array of no elements, which NumPy cannot find, is known",
    ),
    Judgement(
        ("local_useless_elemwise", OF_ALL),
        (VALUES,),
        "as Theano: x == x is true of nan, too",
        "may be",
    ),
    Judgement(
        ("local_useless_elemwise", "local_useless_elemwise_comparison", OF_ALL),
        (VALUES,),
        "as Theano: x == x is true of nan, too",
        "comparisons that may be known",
    ),
    Judgement(
        ("local_useless_elemwise", SEVERAL, OF_ALL),
        (VALUES,),
        "as Theano: x == x is true of nan, too",
        "assertions",
    ),
)


def judged(finding: Finding, recipe: str) -> str | None:
    """Why a finding is no fault; None if it is one."""
    if finding.kind in ALLOWED:
        return finding.kind
    for judgement in JUDGED:
        fits = judgement.recipe in recipe and judgement.where in ("", finding.where)
        if finding.kind in judgement.kinds and fits:
            if not judgement.rewrites or finding.rewrite in judgement.rewrites:
                return judgement.reason
    return None
