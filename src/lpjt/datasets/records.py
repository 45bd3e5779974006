"""What the registry says of a set: its files, domains, shapes, checksums and where to get them."""

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

    name: str  # its first name, in the set's folder
    others: tuple[str, ...] = ()  # other names in use; one with a slash is a path from the root
    sha256: str | None = None  # of the original, or of our copy where the set is not an original
    equals: tuple[str, ...] = ()  # checksums of the same contents packed otherwise
    mirrors: tuple[str, ...] = ()  # addresses, tried in this order


@dataclass(frozen=True, slots=True)
class Domain:
    """One domain of a set, as it is read from one or several files."""

    name: str  # as in the names of pairs
    title: str
    files: tuple[DataFile, ...]
    rows: int
    layout: Layout = "table"
    role: Literal["source", "target"] = "source"  # which half of a file that holds both domains
    twin: DataFile | None = None  # a file that holds the same rows in its other half
    group: str | None = None  # "images": the folder of the domain


@dataclass(frozen=True, slots=True)
class DataSet:
    """One set: domains of one feature space (but for the heterogeneous demonstration) and one list of classes."""

    name: str
    title: str
    folder: str  # under LPJT_DATA and under the cache
    domains: Mapping[str, Domain]
    widths: tuple[int, ...]  # numbers of columns that a domain may have
    n_classes: int
    kind: Literal["original", "rebuilt", "extracted"]
    citation: str
    licence: str
    where: str  # in words, where the files come from
    first_class: int | None = None  # labels are moved to begin here; None: they stay as they are
    single: bool = False  # kept in float32: too large for float64

    @property
    def files(self) -> tuple[DataFile, ...]:
        """Every file of the set, each once."""
        return tuple(dict.fromkeys(file for domain in self.domains.values() for file in domain.files))


def github(repository: str, commit: str, path: str) -> tuple[str, ...]:
    """Addresses of a file in a public repository: the commit at which its checksum was taken, then the newest."""
    host = "https://raw.githubusercontent.com"
    quoted = path.replace(" ", "%20")
    return (f"{host}/{repository}/{commit}/{quoted}", f"{host}/{repository}/HEAD/{quoted}")


def by_name(*domains: Domain) -> dict[str, Domain]:
    """Domains under their names, in the order of the pairs."""
    return {domain.name: domain for domain in domains}
