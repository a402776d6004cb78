"""Collections of rewrites, by Theano 1.0's names."""
# ruff: noqa: F401 -- this file re-exports

from pytensor.graph.rewriting.db import EquilibriumDB, LocalGroupDB, ProxyDB, SequenceDB, TopoDB
from pytensor.graph.rewriting.db import RewriteDatabase as DB
from pytensor.graph.rewriting.db import RewriteDatabaseQuery as Query
