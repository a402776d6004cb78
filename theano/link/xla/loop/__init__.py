"""Loops: Scan as one ``while`` of XLA.

``known_inputs.py`` says what a loop must know before it is traced, ``step.py`` traces the step
once, ``sequences.py`` and ``invariants.py`` say how the step reads what it is given, ``states.py``
keeps states and traces from step to step, and ``lower.py`` puts them together. ``early_stop.py``
is about loops whose values decide how many steps they make, ``samples_before_loops.py`` about those that
draw from a generator.
"""

from theano.link.xla.loop import samples_before_loops
from theano.link.xla.loop.lower import lower_scan

__all__ = ["lower_scan", "samples_before_loops"]
