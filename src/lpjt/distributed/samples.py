"""A spread of rows of each domain, gathered, for what looks at some rows alone: is there a shift, which scaling."""

from lpjt.distributed import statistics, tasks
from lpjt.distributed.blocks import gather_spread
from lpjt.domains import Domain, Domains


def sample_domains(domains, parts, at_most) -> Domains:
    """The domains with at most so many rows each, in memory: every second, third, ... row."""
    gathered = gather_spread(*(blocks for part in parts for blocks in (part.raw, part.labels)), at_most=at_most)
    few = [Domain(part.name, X, y, None) for part, X, y in zip(parts, gathered[::2], gathered[1::2], strict=True)]
    n = len(domains.sources)
    return Domains(tuple(few[:n]), tuple(few[n:]), domains.classes)


class LazyScalings:
    """Scalings of the domains by the statistics of all their rows; as `selection.scaling.Scalings`.

    Parameters
    ----------
    parts : list of Part
        Sources first.
    n_sources : int
    """

    def __init__(self, parts, n_sources):
        self.parts = parts
        self.n_sources = n_sources
        self._found: dict = {}

    def of(self, kind):
        """Scaling of each domain, sources first."""
        return tuple(self._scaling([i], kind) for i in range(len(self.parts)))

    def of_sources(self, kind):
        """One scaling for the rows of all sources together."""
        return self._scaling(list(range(self.n_sources)), kind)

    def _scaling(self, members, kind):
        """`core.coordinates.joint_scaling` of some domains."""
        if kind in ("none", "unit"):
            return statistics.scaling_from(None, kind)
        merged = tasks.add_up([self._statistics(False)[i] for i in members])
        row_sums = kind in ("paper", "sum-zscore") and merged.smallest >= 0
        if row_sums:
            merged = tasks.add_up([self._statistics(True)[i] for i in members])
        return statistics.scaling_from(merged, kind, row_sums)

    def _statistics(self, row_sums):
        """Statistics of each domain, in one reading of all of them."""
        if row_sums not in self._found:
            nodes = [part.raw.sum_of(statistics.column_statistics, row_sums=row_sums) for part in self.parts]
            self._found[row_sums] = tasks.compute(nodes)
        return self._found[row_sums]
