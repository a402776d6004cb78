"""All that is taken of PyTensor's internals: a name for each thing, in a module of its subject.

What PyTensor documents and keeps from release to release is imported from PyTensor itself: the
modules of `PUBLIC`. Whatever else this package takes comes through the modules of this folder, and
through no other: names with an underscore, modules that are not in `PUBLIC`, the names of
`INSIDE_PUBLIC_MODULES`, and private attributes, which small functions here read. Each name has a
line that says what is relied upon. A name here is the one place to mend when a release of PyTensor
moves, renames or changes a thing. ``graphs``, ``operations`` and ``functions`` hold what every
release has, ``before_3_3`` and ``since_3_3`` what one of them lacks.

`tests_scan_grad/house/test_layers.py` holds this over all files. This module imports nothing, since flags
must reach PyTensor before it is imported.
"""

# Modules of PyTensor whose names without an underscore are imported from where they are.
PUBLIC = frozenset(
    """
    pytensor pytensor.configdefaults pytensor.gradient pytensor.printing pytensor.raise_op
    pytensor.d3viz pytensor.d3viz.formatting
    pytensor.compile.builders pytensor.compile.io pytensor.compile.mode pytensor.compile.ops
    pytensor.compile.sharedvalue
    pytensor.graph.basic pytensor.graph.fg pytensor.graph.null_type pytensor.graph.op
    pytensor.graph.replace pytensor.graph.traversal pytensor.graph.type
    pytensor.scalar pytensor.scalar.basic pytensor.scalar.math pytensor.scalar.sharedvar
    pytensor.sparse
    pytensor.tensor pytensor.tensor.basic pytensor.tensor.blockwise pytensor.tensor.elemwise
    pytensor.tensor.exceptions pytensor.tensor.extra_ops pytensor.tensor.fft
    pytensor.tensor.fourier pytensor.tensor.linalg pytensor.tensor.math pytensor.tensor.random.op
    pytensor.tensor.shape pytensor.tensor.sharedvar pytensor.tensor.sort pytensor.tensor.special
    pytensor.tensor.subtensor pytensor.tensor.type pytensor.tensor.type_other
    pytensor.tensor.variable
    pytensor.typed_list.basic pytensor.typed_list.type
    """.split()
)

# Names of these modules that only PyTensor itself uses, or that not every release has.
INSIDE_PUBLIC_MODULES = {
    "pytensor.compile.builders": {"infer_shape"},
    "pytensor.compile.mode": {
        "AddDestroyHandler",
        "AddFeatureOptimizer",
        "OPT_MERGE",
        "OPT_NONE",
        "PrintCurrentFunctionGraph",
        "local_useless",
    },
    "pytensor.compile.ops": {
        "FromFunctionOp",
        "TypeCastingOp",
        "register_deep_copy_op_c_code",
        "register_view_op_c_code",
        "wrap_py",
    },
    "pytensor.gradient": {"as_list_or_tuple", "mode_not_slow"},
    "pytensor.printing": {"hex_digest", "var_descriptor"},
    "pytensor.sparse": {"sparse_grad"},
    "pytensor.tensor.subtensor": {
        "AdvancedIncSubtensor1",
        "AdvancedSubtensor1",
        "as_index_constant",
        "get_canonical_form_slice",
        "get_idx_list",
        "indices_from_subtensor",
        "unflatten_index_variables",
    },
    "pytensor.tensor.type": {"dtensor5s", "itensor5s"},
}
