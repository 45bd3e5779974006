"""Named things that other packages can add to, by entry points: methods of comparison and data sets.

A package adds a thing by an entry point of the registry's group that leads to an instance of the registry's kind::

    [project.entry-points."lpjt.datasets"]
    flowers = "their_package.flowers:FLOWERS"
"""

import multiprocessing
import warnings
from collections.abc import Iterable, Iterator, MutableMapping
from importlib.metadata import EntryPoint, entry_points
from typing import Protocol, TypeVar


class Named(Protocol):
    """What a registry holds."""

    @property
    def name(self) -> str:
        """The name by which commands call it."""


T = TypeVar("T", bound=Named)


class Registry(MutableMapping[str, T]):
    """Things by their name: those given here first, then those of other packages.

    Entry points are loaded when a name is not one of ours, or when all names are asked for. One that cannot be loaded,
    leads to something else, or has a name that is taken is a warning and is left out.

    Parameters
    ----------
    group : str
        The group of entry points.
    kind : type
        What an entry point must lead to.
    own : iterable of `kind`
    """

    def __init__(self, group: str, kind: type[T], own: Iterable[T]) -> None:
        self.group: str = group
        self.kind: type[T] = kind
        self._items = {item.name: item for item in own}
        self._loaded = False

    def __getitem__(self, name: str) -> T:
        return self._items[name] if name in self._items else self._all()[name]

    def __contains__(self, name: object) -> bool:
        return name in self._items or name in self._all()

    def __setitem__(self, name: str, item: T) -> None:
        self._items[name] = item

    def __delitem__(self, name: str) -> None:
        del self._items[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())

    def _all(self) -> dict[str, T]:
        if not self._loaded:
            self._loaded = True  # first, as the module of an entry point may look into the registry
            for entry in sorted(entry_points(group=self.group), key=lambda entry: (entry.name, entry.value)):
                self._add(entry)
        return self._items

    def _add(self, entry: EntryPoint) -> None:
        try:
            item = entry.load()
        except Exception as error:  # whatever their module raises is theirs, and must not end our command
            _warn(entry, f"cannot be loaded ({type(error).__name__}: {error})", "Mend or uninstall it")
            return
        if not isinstance(item, self.kind):
            wanted = f"{self.kind.__module__}.{self.kind.__qualname__}"
            _warn(entry, f"leads to {item!r:.80}, not to an instance of {wanted}", "Mend or uninstall it")
        elif item.name in self._items:
            _warn(entry, f"has the name {item.name!r}, which is taken", "Give it another name")
        else:
            self._items[item.name] = item


def _warn(entry: EntryPoint, fault: str, remedy: str) -> None:
    if multiprocessing.parent_process() is not None:
        return  # said once, by the process that the user started
    package = "" if entry.dist is None else f" of {entry.dist.name} {entry.dist.version}"
    message = f"The entry point '{entry.name} = {entry.value}'{package} in the group {entry.group} {fault}. "
    warnings.warn(f"{message}It is left out. {remedy}.", stacklevel=2)
