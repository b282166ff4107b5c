"""RDF datasets in RocksDB, each in a folder of its own, with bounds on descriptors, memory and files."""

from __future__ import annotations

import shutil
from collections import OrderedDict
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING

import pyoxigraph as ox

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

BULK = 5_000
"""From how many quads on a write is a bulk load: where the two were measured to cost the same."""

FLUSH_WEIGHT = 70_000
"""How much may wait in memory, in quads: some 50 MB."""


class Datasets:
    """Datasets under ``folder``, at most ``limit`` of them open, and the one called ``pinned`` beside them.

    RocksDB keeps what was written in memory until 64 MB of it are of one kind, for each of eleven kinds and each
    dataset. Here all datasets together have at most ``flush_weight`` quads there; a thousand characters of text count
    as one more. For one thread. Raises OSError. ``store`` opens the dataset in a folder, or makes it.
    """

    def __init__(
        self,
        folder: Path,
        *,
        limit: int,
        pinned: str,
        flush_weight: int = FLUSH_WEIGHT,
        store: Callable[[str], ox.Store] = ox.Store,
    ) -> None:
        self._folder = folder
        self._limit = max(1, limit)
        self._pinned = pinned
        self._flush_weight = flush_weight
        self._store = store
        self._open: OrderedDict[str, ox.Store] = OrderedDict()
        self._waiting: dict[str, int] = {}  # what of an open dataset is in memory only

    def exists(self, name: str) -> bool:
        """Whether the dataset was ever written to."""
        return name in self._open or (self._folder / name).exists()

    def existing(self, name: str) -> ox.Store | None:
        """The dataset, if there is one: reading makes no folders. Good until another one is asked for."""
        return self._get(name) if self.exists(name) else None

    def write(self, name: str, quads: Sequence[ox.Quad], *, characters: int) -> None:
        """Write ``quads``, of which the texts have so many ``characters``, to a dataset that is made if need be."""
        dataset = self._get(name)
        if len(quads) >= BULK:
            # Bulk loading writes sorted files past RocksDB's log and memory: dearer to begin (some 30 ms), four times
            # cheaper a quad. It is not one transaction, but a write cut short is not acknowledged, and comes again.
            dataset.bulk_extend(quads)
            return
        dataset.extend(quads)
        self._waiting[name] = self._waiting.get(name, 0) + len(quads) + characters // 1_000
        while sum(self._waiting.values()) >= self._flush_weight:
            self._flush(max(self._waiting, key=self._waiting.__getitem__))

    def copy(self, name: str, to: Path) -> bool:
        """Link the files of the dataset, as it is now, into the new folder ``to``; False when there is no dataset."""
        dataset = self.existing(name)
        if dataset is not None:
            dataset.backup(str(to))
        return dataset is not None

    def names(self) -> list[str]:
        """The datasets that were ever written to."""
        return sorted(each.name for each in self._folder.glob("*") if each.is_dir())

    def size(self, name: str) -> int:
        """Bytes of the files of the dataset, as far as they stand still: RocksDB deletes some whenever it likes."""
        total = 0
        for file in (self._folder / name).glob("*"):
            with suppress(FileNotFoundError):
                total += file.stat().st_size
        return total

    def drop(self, name: str) -> None:
        """Delete the dataset with its files."""
        self._waiting.pop(name, None)
        self._open.pop(name, None)
        shutil.rmtree(self._folder / name, ignore_errors=True)

    def rewrite(self, name: str) -> None:
        """Write the dataset anew, so that no file holds what was removed from it.

        Removing a quad leaves its texts in a dictionary of the dataset, which nothing else ever cleans.
        """
        old, new, spare = self._folder / name, self._folder / f"{name}.new", self._folder / f"{name}.old"
        dataset = self._get(name)
        shutil.rmtree(new, ignore_errors=True)
        copy = self._store(str(new))
        quads = dataset.quads_for_pattern(None, None, None, None)
        while page := [*islice(quads, 200_000)]:
            copy.bulk_extend(page)
        copy.flush()
        del copy, quads, dataset  # locks go with the last name
        self._waiting.pop(name, None)
        del self._open[name]
        old.rename(spare)
        new.rename(old)
        _remove(spare)

    def mend(self) -> None:
        """Finish, or undo, what was cut short: a rewriting, a query."""
        for left in self._folder.glob("query-*"):
            shutil.rmtree(left, ignore_errors=True)
        for spare in self._folder.glob("*.old"):
            whole = self._folder / spare.stem
            if not whole.exists():  # the new one was complete
                whole.with_name(f"{spare.stem}.new").rename(whole)
            _remove(spare)
        for half in self._folder.glob("*.new"):
            _remove(half)

    def close(self) -> None:
        """Write all to the disk, and let go of the locks."""
        while self._open:
            self._release(next(iter(self._open)))

    def _get(self, name: str) -> ox.Store:
        if name not in self._open:
            self._make_room(name)
            folder = self._folder / name
            folder.mkdir(parents=True, exist_ok=True)
            self._open[name] = self._store(str(folder))
            for old in folder.glob(
                "LOG.old.*"
            ):  # what RocksDB did before: 140 KB at each opening, kept 1,000 times
                old.unlink(missing_ok=True)
        self._open.move_to_end(name)
        return self._open[name]

    def _make_room(self, name: str) -> None:
        """Let go of the datasets that were not used for longest, until ``name`` may be opened."""
        if name == self._pinned:
            return
        others = [other for other in self._open if other != self._pinned]
        for other in others[: max(0, len(others) - self._limit + 1)]:
            self._release(other)

    def _release(self, name: str) -> None:
        self._flush(name)
        del self._open[name]  # nobody else holds it: its lock goes with it

    def _flush(self, name: str) -> None:
        if self._waiting.get(name):
            self._open[name].flush()
        self._waiting.pop(name, None)


def _remove(folder: Path) -> None:
    """Delete ``folder``, in which files may go away by themselves meanwhile. Raises OSError if some of it stays."""
    while folder.exists():
        with suppress(FileNotFoundError):
            shutil.rmtree(folder)
