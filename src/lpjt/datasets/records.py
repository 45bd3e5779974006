"""What the registry records about a data set: its files, domains, shapes, checksums and origin."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from lpjt.files import FileError

#: How a domain's files are read, see `loading`.
Layout = Literal["table", "features", "idx", "usps", "cdls", "images"]


class DataError(FileError):
    """A data set cannot be used; the message is one line that says what to do."""


@dataclass(frozen=True, slots=True)
class DataFile:
    """One file of a set."""

    name: str  # its usual name in the folder of the set
    aliases: tuple[str, ...] = ()  # other names in use; one with a slash is a path from the root
    sha256: str | None = None  # of the original, or of our copy if the set is not an original
    equals: tuple[str, ...] = ()  # checksums of the same contents with other compression
    mirrors: tuple[str, ...] = ()  # addresses, tried in this order


@dataclass(frozen=True, slots=True)
class Domain:
    """One domain of a set, read from one or several files."""

    name: str  # as in the names of pairs
    title: str
    files: tuple[DataFile, ...]
    rows: int
    layout: Layout = "table"
    role: Literal["source", "target"] = "source"  # which domain of a file that holds two
    twin: DataFile | None = None  # a file that holds the same rows as its other domain
    group: str | None = None  # folder of the domain, for images


@dataclass(frozen=True, slots=True)
class DataSet:
    """One set: domains with the same features (except in the CDLS demonstration) and the same classes."""

    name: str
    title: str
    folder: str  # below LPJT_DATA and below the cache
    domains: Mapping[str, Domain]
    widths: tuple[int, ...]  # numbers of columns that a domain may have
    n_classes: int
    kind: Literal["original", "rebuilt", "extracted"]
    citation: str
    licence: str
    where: str  # in words: where the files come from
    first_class: int | None = None  # labels are shifted to start here; None: unchanged
    float32: bool = False  # kept in float32 because float64 would be too large

    @property
    def files(self) -> tuple[DataFile, ...]:
        """Every file of the set, each once."""
        return tuple(dict.fromkeys(file for domain in self.domains.values() for file in domain.files))


def github(repository: str, commit: str, path: str) -> tuple[str, ...]:
    """Addresses of a file in a public repository: at the commit whose checksum is recorded, then at the newest."""
    host = "https://raw.githubusercontent.com"
    quoted = path.replace(" ", "%20")
    return (f"{host}/{repository}/{commit}/{quoted}", f"{host}/{repository}/HEAD/{quoted}")


def by_name(*domains: Domain) -> dict[str, Domain]:
    """Domains by name, in the given order."""
    return {domain.name: domain for domain in domains}
