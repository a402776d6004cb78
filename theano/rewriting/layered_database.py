"""Collections of rewrites that add to others, which stay as they are."""

from collections import ChainMap
from collections.abc import Callable
from threading import RLock

from theano.gof.optdb import EquilibriumDB, SequenceDB, check_that_free, holds
from theano.pytensor_internals.graphs import rewriting as of_pytensor

__all__ = ["LayeredDB", "LayeredEquilibriumDB"]


class LayeredEquilibriumDB(EquilibriumDB):
    """Rewrites that are applied together with those of another collection, which stays as it is.

    Parameters
    ----------
    base : EquilibriumDB
        The other collection.
    complete : callable
        Registers what is registered late; called before rewrites are chosen or looked up.
    """

    def __init__(self, base: of_pytensor.EquilibriumDB, complete: Callable[[], None]):
        super().__init__(base.ignore_newtrees, base.tracks_on_change_inputs)
        self._base = base
        self._complete = complete
        self.name = base.name

    def register(self, name, obj, *tags, **kwargs):
        """Add a rewrite under a name and tags, perhaps for the end of each round."""
        check_that_free(self._base, name, tags)
        super().register(name, obj, *tags, **kwargs)

    def query(self, *tags, **kwtags):
        """Return the chosen rewrites of both collections as one."""
        self._complete()
        chosen = self._base.query(*tags, **kwtags)
        self._add(chosen, super().query(*tags, **kwtags))
        return chosen

    def add_to(self, chosen, query) -> None:
        """Add the rewrites that a query chooses of these to what it chose of the other ones."""
        self._add(chosen, super().query(query))

    @staticmethod
    def _add(chosen, own) -> None:
        # a rewrite of several operators is listed for each
        for rewriter in dict.fromkeys(own.get_node_rewriters()):
            chosen.node_tracker.add_tracker(rewriter)
        chosen.global_rewriters += own.global_rewriters
        chosen.final_rewriters += own.final_rewriters
        chosen.cleanup_rewriters += own.cleanup_rewriters

    def __getitem__(self, name):
        if not holds(self, name):
            self._complete()
        return super().__getitem__(name) if holds(self, name) else self._base[name]

    def __contains__(self, name):
        self._complete()
        return holds(self, name) or name in self._base


class LayeredDB(SequenceDB):
    """A sequence of rewrites that adds to another one, which stays as it is.

    Parameters
    ----------
    base : SequenceDB
        What it adds to.
    """

    def __init__(self, base: of_pytensor.SequenceDB):
        super().__init__(base.failure_callback)
        self._base = base
        self.name = base.name
        self._late: list[Callable[[], object]] = []
        # a thread that compiles while another one imports waits for it
        self._completing = RLock()
        self._layers: dict[str, LayeredEquilibriumDB] = {}
        # what is written goes to the first
        self.__position__ = ChainMap(self.__position__, base.__position__)

    def register(self, name, obj, *tags, **kwargs):
        check_that_free(self._base, name, tags)
        super().register(name, obj, *tags, **kwargs)

    def complete_by(self, register: Callable[[], object]) -> None:
        """Have more rewrites registered before any are chosen, or looked up by a new name."""
        self._late.append(register)

    def complete(self) -> None:
        """Register what is registered late."""
        with self._completing:
            while self._late:
                self._late.pop()()

    def __query__(self, q):
        self.complete()
        if q.require:
            collections = (self._base, self, *self._layers.values())
            q = of_pytensor.excluding_what_lacks(q, *collections)
        chosen = self._base.__query__(q)
        for rewriter in chosen:
            if rewriter.name in self._layers:
                self._layers[rewriter.name].add_to(rewriter, q.subquery.get(rewriter.name, q))
        return chosen | super().__query__(q)

    def numbers_of_entries(self) -> tuple[tuple[int, ...], ...]:
        """Return how many rewrites each name and tag has, here and in the other collection."""
        self.complete()
        return of_pytensor.numbers_of_entries(self, self._base, *self._layers.values())

    def __getitem__(self, name):
        if not holds(self, name) and name not in self._base:
            self.complete()
        if holds(self, name):
            return super().__getitem__(name)
        found = self._base[name]
        if not isinstance(found, of_pytensor.EquilibriumDB):
            return found
        return self._layers.setdefault(name, LayeredEquilibriumDB(found, self.complete))

    def __contains__(self, name):
        self.complete()
        return holds(self, name) or name in self._base
