"""Expressions on numbers as C text."""

from __future__ import annotations

from collections.abc import Sequence

from theano.link.native.ir.scalar_expressions import Expression
from theano.link.native.ir.scalar_types import C_TYPES, SUFFIX


def scalar_text(expression: Expression, operands: Sequence[str], dtypes: Sequence[str]) -> str:
    """The C expression on numbers of these types."""
    texts = []
    for k, (text, dtype) in enumerate(zip(operands, dtypes, strict=True)):
        wanted = expression.operand_dtype
        if wanted is None or wanted == dtype or (expression.takes_truth and k == 0):
            texts.append(text)
        else:
            texts.append(f"(({C_TYPES[wanted]}){text})")
    working = expression.operand_dtype or expression.dtype
    return expression.template.format(
        *texts,
        f="f" if working == "float32" else "",
        t=C_TYPES[expression.dtype],
        u="uint64_t" if expression.dtype.endswith("64") else "unsigned int",
        s=SUFFIX.get(working, "f64"),
        S=SUFFIX.get(working, "f64").upper(),
    )


def vector_text(expression: Expression, operands: Sequence[str], dtype: str) -> str:
    """The C expression on vectors of a floating-point type."""
    assert expression.vector is not None
    return expression.vector.format(
        *operands, s=SUFFIX[dtype], S=SUFFIX[dtype].upper(), f="", t=C_TYPES[dtype]
    )
