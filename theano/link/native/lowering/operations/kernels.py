"""What lowerings that write their own loops begin with."""

from __future__ import annotations

from theano.link.native.lowering.step import Step
from theano.link.native.render.looks import between_looks


def looks_of(step: Step) -> int:
    """For the functions below: 0 in a loop, which looks up for signals between its steps."""
    return 0 if step.repeats else between_looks()
