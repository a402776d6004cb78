"""generators_as_keys: what draws from NumPy's generators draws from keys of JAX's instead.

The flag ``xla.generators=jax`` asks for it: the numbers are others, of the same distributions. What
JAX does not draw stays with NumPy, and so does the whole of a loop that has it.
"""

from __future__ import annotations

from pytensor.compile.builders import OpFromGraph
from pytensor.graph.basic import Apply
from pytensor.graph.fg import FunctionGraph
from pytensor.tensor.random.op import RandomVariable

from theano.configdefaults import config
from theano.link.generators_as_arrays import (
    Form,
    Forms,
    is_generator,
    on_arrays,
    samples_from_arrays,
)
from theano.link.xla.generators.distributions import SampleByKey, why_numpy_draws
from theano.link.xla.generators.keys import GeneratorOfKey, KeyOfGenerator, key_type
from theano.link.xla.windows import TAG
from theano.pytensor_internals.graphs.rewriting import GraphRewriter
from theano.pytensor_internals.graphs.scan import Scan
from theano.pytensor_internals.operations.tensor import RandomType
from theano.rewriting.database import register_for_tags
from theano.scan_module.scan_opt.loop_rewriter import loops_of, replace_values

KEYS = Forms(
    {
        RandomType: Form(
            key_type,
            lambda generator: KeyOfGenerator().make_node(generator).outputs[0],
            lambda key, before: GeneratorOfKey().make_node(key, before).outputs[0],
            GeneratorOfKey,
            lambda op, inputs: SampleByKey(op).make_node(*inputs).outputs,
        )
    }
)


class GeneratorsAsKeys(GraphRewriter):
    """Gives random variables, and loops that draw, the keys of their generators."""

    def apply(self, fgraph: FunctionGraph) -> None:
        """Visit each loop, then what draws outside of loops."""
        if config.xla.generators != "jax" or not any(map(is_generator, fgraph.variables)):
            return
        for node in list(loops_of(fgraph)):
            if node in fgraph.apply_nodes and _may_have_keys(node):
                replace_values(fgraph, on_arrays(node, KEYS), "generators_as_keys")
        samples = samples_from_arrays(fgraph, KEYS, why_numpy_draws)
        replace_values(fgraph, samples, "generators_as_keys")


def _may_have_keys(node: Apply) -> bool:
    """Return whether a loop has generators, and JAX draws all that it draws."""
    inner = node.op.fgraph  # type: ignore[attr-defined]
    generators = [x for x in [*inner.inputs, *inner.outputs] if is_generator(x)]
    if not generators or not all(isinstance(x.type, RandomType) for x in generators):
        return False
    for each in inner.toposort():
        if isinstance(each.op, Scan | OpFromGraph):
            draws = any(map(is_generator, each.inputs))
            if draws and not _may_have_keys(each):
                return False
        elif isinstance(each.op, RandomVariable):
            if why_numpy_draws(each):
                return False
        elif any(map(is_generator, [*each.inputs, *each.outputs])):
            return False
    return True


# before samples are drawn ahead of loops
register_for_tags("generators_as_keys", GeneratorsAsKeys(), TAG, position=0.0805)
