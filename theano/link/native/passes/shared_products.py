"""Products for all steps of a loop inside a step are shared among threads, as they are outside of loops.

A step with a loop inside is one thread's, and so are its products by matrices that are packed before
the loop; other products are shared by the runtime. Check: the rows of the product are those of a stack of
matrices, so that there are many of them. Transformation: its right operand is not packed.
"""

from __future__ import annotations

from theano.link.native.lowering.loop import Loop
from theano.link.native.statements.base import of_kind
from theano.link.native.statements.call_loop import CallLoop
from theano.link.native.statements.gemm import Gemm


def share_products(loop: Loop) -> None:
    """Leave those matrices unpacked; which ones are packed is found afterwards, by `split_products`."""
    if not any(of_kind(loop.step.statements, CallLoop)):
        return
    for product in of_kind(loop.step.statements, Gemm):
        stack = product.a.buffer.source
        if stack is not None and len(stack.buffer.shape) > 2:
            product.packed = None
