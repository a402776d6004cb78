"""Collections of rewrites that a query chooses from, with Theano 1.0's names and signatures."""

from theano.gof import opt
from theano.gof.rewriters.graph_rewriters import (
    EquilibriumOptimizer,
    SeqOptimizer,
    TopoOptimizer,
)
from theano.gof.rewriters.local_rewriters import LocalOptGroup
from theano.pytensor_internals.graphs import rewriting as of_pytensor

__all__ = [
    "DB",
    "EquilibriumDB",
    "LocalGroupDB",
    "ProxyDB",
    "Query",
    "SequenceDB",
    "TopoDB",
    "opt",
]


class Query(of_pytensor.RewriteDatabaseQuery):
    """A choice of rewrites from a collection.

    Parameters
    ----------
    include : list of str
        Tags of which a rewrite needs one.
    require, exclude : list of str, optional
        Tags that a rewrite needs all of, and those that it must not have.
    subquery : dict, optional
        From the name of a collection in the collection to the query for it.
    position_cutoff : float, optional
        Where to stop in an ordered collection.
    extra_optimizations : list of (Optimizer, float), optional
        Rewrites to add, each with its position.
    """

    def __init__(
        self,
        include,
        require=None,
        exclude=None,
        subquery=None,
        position_cutoff=float("inf"),
        extra_optimizations=None,
    ):
        super().__init__(include, require, exclude, subquery, position_cutoff, extra_optimizations)

    @property
    def extra_optimizations(self):
        """The rewrites that the query adds, each with its position."""
        return self.extra_rewrites


class DB(of_pytensor.RewriteDatabase):
    """Rewrites, each with a name and tags.

    Raises
    ------
    ValueError
        A rewrite is registered under a name that is taken, or with a tag that is a name.
    """

    def register(self, name, obj, *tags, **kwargs):
        """Add a rewrite or a collection of rewrites under a name and tags."""
        check_that_free(self, name, tags)
        super().register(name, obj, *tags, **kwargs)


def check_that_free(db, name, tags) -> None:
    """Raise ValueError if a name is taken, or a tag is the name of a rewrite."""
    if name in db.__db__:
        raise ValueError(f"The name {name!r} is already that of a rewrite or a tag")
    for tag in tags:
        if tag in of_pytensor.names_in(db):
            raise ValueError(f"The tag {tag!r} for {name!r} is the name of a rewrite")


def holds(db, name) -> bool:
    """Return whether something is registered under a name or a tag."""
    # a query leaves an empty entry for each of its tags
    return bool(db.__db__.get(name))


class EquilibriumDB(DB, of_pytensor.EquilibriumDB):
    """Rewrites that are applied together until none changes anything.

    Parameters
    ----------
    ignore_newtrees, tracks_on_change_inputs : bool
        As for `EquilibriumOptimizer`.
    """

    def __init__(self, ignore_newtrees=True, tracks_on_change_inputs=False):
        of_pytensor.EquilibriumDB.__init__(
            self, ignore_newtrees, tracks_on_change_inputs, eq_rewriter_class=_equilibrium
        )

    def register(self, name, obj, *tags, final_opt=False, cleanup=False, **kwargs):
        """Add a rewrite under a name and tags, perhaps for the end of each round."""
        check_that_free(self, name, tags)
        of_pytensor.EquilibriumDB.register(
            self, name, obj, *tags, final_rewriter=final_opt, cleanup=cleanup, **kwargs
        )

    def query(self, *tags, **kwtags):
        """Return the chosen rewrites as one."""
        return of_pytensor.EquilibriumDB.query(self, *tags, **kwtags)


def _equilibrium(rewriters, final_rewriters=None, cleanup_rewriters=None, **kwargs):
    return EquilibriumOptimizer(
        rewriters,
        final_optimizers=final_rewriters,
        cleanup_optimizers=cleanup_rewriters,
        **kwargs,
    )


class SequenceDB(DB, of_pytensor.SequenceDB):
    """Rewrites that are applied in the order of their positions.

    Parameters
    ----------
    failure_callback : callable, optional
        As for `SeqOptimizer`.
    """

    seq_opt = seq_rewriter_type = SeqOptimizer

    def __init__(self, failure_callback=SeqOptimizer.warn):
        of_pytensor.SequenceDB.__init__(self, failure_callback)

    def register(self, name, obj, *tags, position=None, **kwargs):
        """Add a rewrite under a name and tags, at a position.

        Parameters
        ----------
        name : str
        obj : Optimizer or DB
        *tags
            The position, a number or 'last', unless it is given by its name; then the tags.
        """
        if position is None:
            position, *tags = tags or ("last",)
        check_that_free(self, name, tags)
        of_pytensor.SequenceDB.register(self, name, obj, *tags, position=position, **kwargs)

    def query(self, *tags, **kwtags):
        """Return the chosen rewrites as one."""
        return of_pytensor.SequenceDB.query(self, *tags, **kwtags)


class LocalGroupDB(SequenceDB):
    """Rewrites of one application, of which the first that applies is taken.

    Parameters
    ----------
    apply_all_opts, profile : bool
        As for `LocalOptGroup`.
    local_opt : class
        Made of the chosen rewrites.
    """

    def __init__(self, apply_all_opts=False, profile=False, local_opt=LocalOptGroup):
        super().__init__(failure_callback=None)
        self.apply_all_opts, self.profile, self.local_opt = apply_all_opts, profile, local_opt
        self.__name__ = ""

    def register(self, name, obj, *tags, position="last", **kwargs):
        """Add a rewrite under a name and tags, after the others unless a position is given."""
        super().register(name, obj, *tags, position=position, **kwargs)

    def query(self, *tags, **kwtags):
        """Return the chosen rewrites as one."""
        chosen = list(super().query(*tags, **kwtags))
        return self.local_opt(*chosen, apply_all_opts=self.apply_all_opts, profile=self.profile)


class TopoDB(DB):
    """The rewrites that another collection's query returns, applied along the graph.

    Parameters
    ----------
    db : DB
    order, ignore_newtrees, failure_callback
        As for `TopoOptimizer`.
    """

    def __init__(self, db, order="in_to_out", ignore_newtrees=False, failure_callback=None):
        super().__init__()
        self.db = db
        self._options = order, ignore_newtrees, failure_callback

    def query(self, *tags, **kwtags):
        """Return the chosen rewrites as one."""
        return TopoOptimizer(self.db.query(*tags, **kwtags), *self._options)


class ProxyDB(DB):
    """Another collection, to register it in several places.

    Parameters
    ----------
    db : DB
    """

    def __init__(self, db):
        if not isinstance(db, of_pytensor.RewriteDatabase):
            raise TypeError(f"ProxyDB expects a collection of rewrites, not {db!r}")
        super().__init__()
        self.db = db

    def query(self, *tags, **kwtags):
        """Return what the collection's query returns."""
        return self.db.query(*tags, **kwtags)
