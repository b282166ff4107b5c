"""What the trace store on disk does in its thread: datasets and index kept together, step by step.

Every method blocks, and none is called by two threads. Raises OSError and sqlite3.Error.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyoxigraph as ox

from clew_services.adapters.stores.oxigraph_adopt import (
    adopt,
    collections_of_folder,
    collections_of_shared,
    folder_name,
)
from clew_services.adapters.stores.oxigraph_index import RunIndex
from clew_services.adapters.stores.oxigraph_query import Snapshot
from clew_services.adapters.stores.oxigraph_runs import View, entry, owned, prefix_of
from clew_services.adapters.stores.oxigraph_terms import from_quad, named
from clew_services.errors import Forbidden

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from clew_schema.rdf import Triple
    from clew_services.adapters.stores.oxigraph_datasets import Datasets
    from clew_services.ports import TraceFilter, TraceRow

SHARED = "shared"
"""The folder of what was told of collections that have no dataset; no collection's own is called so."""

INDEX = "runs.sqlite3"

SMALL = 256 * 2**20
"""Up to how many bytes a dataset is written anew at once, rather than within a day."""

DAY = 86_400.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """A batch of ``run``, ready to be written. ``found``: it tells of evidence, so its collection exists.

    ``parent`` is the run whose tool asked for it; ``""`` for none, and where another batch says so.
    """

    collection: str
    run: str
    parent: str
    quads: list[ox.Quad]
    characters: int
    found: bool


class Keeping:
    """Datasets under ``folder`` with the index beside them. ``now`` says the time, in seconds since 1970."""

    def __init__(self, folder: Path, datasets: Datasets, now: Callable[[], float] = time.time) -> None:
        self._folder = folder
        self._datasets = datasets
        self._now = now
        self._opened: RunIndex | None = None

    # --- writing ----------------------------------------------------------------------------------

    def admit(self, batches: Iterable[Told], claimed: dict[str, str]) -> list[Told]:
        """Those of ``batches`` that are to be kept: not those of runs that were erased.

        ``claimed`` are the runs of batches that were admitted and not yet written, and gets these. Raises Forbidden
        for a run of another collection; nothing is claimed then.
        """
        index, own = self._index(), dict[str, str]()
        kept = []
        for told in batches:
            self._known(told.collection)
            owners = {(own | claimed).get(told.run, "")} - {""} or index.owners(told.run)
            if owners and told.collection not in owners:
                raise Forbidden(f"run {told.run} was told in another collection than {told.collection!r}")
            if index.was_erased(told.collection, told.run):
                continue
            if told.parent and index.was_erased(told.collection, told.parent):
                # A tool went on while its run was erased: what it told so far goes, too.
                self._erase(told.collection, [told.run], also=(told.run,))
                continue
            own[told.run] = told.collection
            kept.append(told)
        claimed.update(own)
        return kept

    def write(self, batches: Iterable[Told]) -> None:
        """Write what was admitted."""
        together: dict[str, list[Told]] = {}
        for told in batches:
            # One that was admitted before its own run was found to be an erased one's tool.
            if not self._index().was_erased(told.collection, told.run):
                together.setdefault(told.collection, []).append(told)
        for collection, those in together.items():
            quads = [quad for told in those for quad in told.quads]
            characters = sum(told.characters for told in those)
            folder = folder_name(collection)
            if any(told.found for told in those) or self._datasets.exists(folder):
                self._datasets.write(folder, quads, characters=characters)
            else:
                self._datasets.write(SHARED, [*owned(quads, collection)], characters=characters)
            views = self._views(collection)
            for run in dict.fromkeys(told.run for told in those):
                self._index().put(entry(views, collection, named(run)))
        self._index().commit()

    # --- reading ----------------------------------------------------------------------------------

    def list(self, collection: str, limit: int, where: TraceFilter, after: str) -> Sequence[TraceRow]:
        """A page of the runs of ``collection``. Raises BadRequest."""
        self._known(collection)
        return self._index().page(collection, limit, where, after) if self._exists() else ()

    def run(self, collection: str, session_uri: str) -> Sequence[Triple]:
        """The quads of one run."""
        try:
            run = ox.NamedNode(session_uri)
        except ValueError:
            return ()  # no name of anything
        if not self._exists():
            return ()
        self._index()
        views = self._views(collection)
        return tuple(from_quad(quad) for quad in dict.fromkeys(q for view in views for q in view.quads(run)))

    def collections(self) -> Sequence[str]:
        """The collections that have runs."""
        return self._index().collections() if self._exists() else ()

    def snapshot(self, collection: str, room: Path) -> Snapshot:
        """The collection as it is now, in files of their own in ``room``."""
        own, shared = room / "own", room / "shared"
        has_own = self._datasets.copy(folder_name(collection), own)
        has_shared = self._datasets.copy(SHARED, shared)
        return Snapshot(
            own=str(own) if has_own else "",
            shared=str(shared) if has_shared else "",
            prefix=prefix_of(collection),
        )

    # --- erasing ----------------------------------------------------------------------------------

    def erase(self, collection: str, uris: Iterable[str]) -> int:
        """Erase runs and those of their tools; how many."""
        self._known(collection)
        return self._erase(collection, uris) if self._exists() else 0

    def erase_collection(self, collection: str) -> int:
        """Erase all runs of a collection with its dataset; how many."""
        self._known(collection)
        if not self._exists():
            return 0
        index, runs = self._index(), self._index().all_of(collection)
        index.mark_erased(collection, runs, self._now())
        index.commit()
        self._datasets.drop(folder_name(collection))
        if (shared := self._datasets.existing(SHARED)) is not None:
            View(shared, collection).clear()
            index.soil(SHARED, self._now())
        index.forget(collection, runs)
        index.clean(folder_name(collection))
        index.commit()
        return len(runs)

    def tidy(self) -> float | None:
        """Write datasets anew whose files hold what was erased, if it is time; else seconds until it will be."""
        if not self._exists():
            return None
        index, waits = self._index(), list[float]()
        index.trim()
        for folder, since in index.unclean().items():
            wait = since + DAY - self._now()
            if wait > 0 and self._datasets.size(folder) > SMALL:
                waits.append(wait)
                continue
            if self._datasets.exists(folder):
                self._datasets.rewrite(folder)
            index.clean(folder)
            index.commit()
        return min(waits, default=None)

    def close(self) -> None:
        """Write to the disk, and let go of all locks."""
        try:
            if self._opened is not None:
                self.tidy()
                self._opened.close()
                self._opened = None
        finally:
            self._datasets.close()

    def _erase(self, collection: str, uris: Iterable[str], also: Sequence[str] = ()) -> int:
        index, views = self._index(), self._views(collection)
        runs = index.family(collection, uris, also)
        # In this order: cut short anywhere, the runs are still listed, and erasing them again ends it.
        index.mark_erased(collection, {*runs, *also}, self._now())
        index.commit()
        for run in runs:
            for view in views:
                view.erase(named(run))
        for folder in (SHARED, folder_name(collection)):
            if runs and self._datasets.exists(folder):
                index.soil(folder, self._now())
        index.forget(collection, runs)
        index.commit()
        return len(runs)

    # --- what there is ----------------------------------------------------------------------------

    def _exists(self) -> bool:
        return self._opened is not None or self._folder.exists()

    def _views(self, collection: str) -> Sequence[View]:
        """Where runs of ``collection`` may stand."""
        shared = self._datasets.existing(SHARED)
        own = self._datasets.existing(folder_name(collection))
        views = (View(shared, collection) if shared else None, View(own) if own else None)
        return [view for view in views if view]

    def _index(self) -> RunIndex:
        """The index, opened and complete."""
        if self._opened is None:
            self._folder.mkdir(parents=True, exist_ok=True)
            index = RunIndex(self._folder / INDEX)
            self._opened = index
            self._datasets.mend()
            if index.fresh:
                self._adopt_all(index)
        return self._opened

    def _adopt_all(self, index: RunIndex) -> None:
        try:
            for folder in self._datasets.names():
                dataset = self._datasets.existing(folder)
                if dataset is None:
                    continue
                shared = folder == SHARED
                found = collections_of_shared(dataset) if shared else collections_of_folder(dataset, folder)
                for name in list(found):
                    adopt(index, name, self._views(name))
            index.adopted()
        except BaseException:
            index.undo()
            index.close()
            self._opened = None
            raise

    def _known(self, collection: str) -> None:
        """A dataset of an earlier Clew that does not say whose it is becomes known when it is named."""
        if not self._exists() or self._index().knows(collection):
            return
        shared = self._datasets.existing(SHARED)
        in_shared = shared is not None and View(shared, collection).exists()
        if in_shared or self._datasets.exists(folder_name(collection)):
            adopt(self._index(), collection, self._views(collection))
            self._index().commit()
