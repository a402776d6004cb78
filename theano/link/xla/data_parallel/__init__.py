"""One function on several devices, each with its rows of the batch.

Each device computes on its own rows; what is summed over the batch, such as gradients, is summed
over the devices by one all-reduce after the loops.
"""

import theano.link.xla.data_parallel.indexing
import theano.link.xla.data_parallel.loops  # noqa: F401 -- both add rules
from theano.link.xla.data_parallel.machine import Split, SplitMachine

__all__ = ["Split", "SplitMachine"]
