"""Loops: Scan as one ``while`` of XLA.

``step.py`` traces the step once; ``sequences.py`` reads rows of sequences; ``states.py`` keeps
states and traces from step to step; ``known_inputs.py`` says what a loop must know before it is
traced; ``lower.py`` puts them together.
"""

from theano.link.xla.loop import draws_before
from theano.link.xla.loop.lower import lower_scan

__all__ = ["draws_before", "lower_scan"]
