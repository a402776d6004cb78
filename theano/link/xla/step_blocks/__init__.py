"""Blocks of steps: work for all steps of a loop next to it is done for some steps at a time, around it.

A product that left a loop is as large as all steps together, and so is what a backward loop hands
to the products after it. In blocks of steps both take the memory of a block: an outer ``while``
makes the rows of a block, runs these steps, and adds up or stores what is made from their results.

``equations.py`` has a traced program as data, ``rows.py`` says which rows of which array a step
has, ``group.py`` finds what belongs to a loop, ``plan.py`` says how many steps a block has, and
``emit.py`` computes the program.
"""

from theano.link.xla.step_blocks.emit import in_blocks

__all__ = ["in_blocks"]
