"""Theano 1.0's `theano.gof`: graphs, operators, types and rewrites."""
# ruff: noqa: F401 -- this file re-exports

from theano.gof import (
    cc,
    cmodule,
    compiledir,
    compilelock,
    destroyhandler,
    fg,
    graph,
    link,
    null_type,
    op,
    opt,
    optdb,
    params_type,
    sched,
    toolbox,
    type,
    utils,
    vm,
)
from theano.gof.cc import CLinker, DualLinker, OpWiseCLinker
from theano.gof.destroyhandler import DestroyHandler
from theano.gof.fg import CachedConstantError, FunctionGraph, InconsistencyError, MissingInputError
from theano.gof.graph import Apply, Constant, Variable, view_roots
from theano.gof.link import (
    Container,
    Linker,
    LocalLinker,
    PerformLinker,
    WrapLinker,
    WrapLinkerMany,
)
from theano.gof.op import COp, Op, OpenMPOp, PureOp
from theano.gof.opt import (
    CheckStackTraceOptimization,
    EquilibriumOptimizer,
    LocalOptGroup,
    LocalOptimizer,
    MergeOptimizer,
    NavigatorOptimizer,
    OpKeyOptimizer,
    OpRemove,
    OpSub,
    Optimizer,
    PatternSub,
    SeqOptimizer,
    TopoOptimizer,
    inplace_optimizer,
    local_optimizer,
    optimizer,
)
from theano.gof.optdb import DB, EquilibriumDB, LocalGroupDB, ProxyDB, Query, SequenceDB, TopoDB
from theano.gof.params_type import Params, ParamsType
from theano.gof.toolbox import (
    Bookkeeper,
    Feature,
    History,
    NodeFinder,
    NoOutputFromInplace,
    PrintListener,
    ReplacementDidntRemovedError,
    ReplaceValidate,
    Validator,
)
from theano.gof.type import (
    CEnumType,
    EnumList,
    EnumType,
    Generic,
    SingletonType,
    Type,
    generic,
)
from theano.gof.utils import MetaObject as object2
from theano.gof.utils import MethodNotDefined, hashtype
