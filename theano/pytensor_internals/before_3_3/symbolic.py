"""Operators that are graphs, which PyTensor 3.0 compiles by themselves in a mode that they name."""

from pytensor.compile.mode import Mode

# what such an operator is made with: node by node, without a compiler
NODE_BY_NODE = {"mode": Mode(linker="py", optimizer=None)}  # type: ignore[arg-type]

# it has no such operator whose gradient is taken through its graph where a rule is shorter
GRADIENT_RULES: dict = {}
