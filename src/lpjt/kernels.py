"""The kernel of the paper's appendix, with all of its options in one object."""

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, ClassVar

from sklearn.base import BaseEstimator

from lpjt._sklearn import Interval, StrOptions

#: Names that scikit-learn's `pairwise_kernels` knows and that suit the method.
NAMES = frozenset({"linear", "rbf", "poly", "cosine", "laplacian", "chi2", "sigmoid"})

#: Parameters that each kernel takes; a kernel not listed takes none.
_TAKES = {
    "rbf": ("gamma",),
    "laplacian": ("gamma",),
    "chi2": ("gamma",),
    "sigmoid": ("gamma", "coef0"),
    "poly": ("gamma", "coef0", "degree"),
}


class Kernel(BaseEstimator):
    """A kernel for ``LPJT(kernel=...)``: Algorithm 1 in the kernel's feature space, as in the paper's appendix.

    Parameters
    ----------
    function : str or callable, default="rbf"
        "linear", "rbf", "poly", "cosine", "laplacian", "chi2", "sigmoid", or a callable of two rows.
    gamma : float, default=None
        Width of the rbf, laplacian, chi2, poly and sigmoid kernels. None is 1 over the mean squared distance between
        rows, for laplacian and chi2 1 over its root, which suits any scale.
    degree : int, default=3
        Degree of the poly kernel.
    coef0 : float, default=1
        Constant of the poly and sigmoid kernels.
    max_rows : int, default=2000
        The kernel is exact if all domains of one width together have at most this many rows. Otherwise this many rows,
        drawn at random, represent all of them (Nystroem's method). Wide sparse rows are drawn in a smaller number, at
        least 256, as they are kept dense.

    Examples
    --------
    >>> from lpjt import LPJT, Kernel
    >>> LPJT(kernel=Kernel("rbf", gamma=0.1)).get_params()["kernel__gamma"]
    0.1
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "function": [StrOptions(set(NAMES)), callable],
        "gamma": [Interval(Real, 0, None, closed="neither"), None],
        "degree": [Interval(Real, 0, None, closed="neither")],
        "coef0": [Interval(Real, None, None, closed="neither")],
        "max_rows": [Interval(Integral, 2, None, closed="left")],
    }

    def __init__(
        self,
        function: str | Callable[..., float] = "rbf",
        *,
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
        max_rows: int = 2000,
    ) -> None:
        self.function = function
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.max_rows = max_rows

    @property
    def is_linear(self) -> bool:
        """Whether the kernel is the plain inner product, for which no kernel matrix is needed."""
        return isinstance(self.function, str) and self.function == "linear"

    @property
    def needs_gamma(self) -> bool:
        """Whether a value of gamma must be found from the rows."""
        return self.gamma is None and isinstance(self.function, str) and "gamma" in _TAKES.get(self.function, ())

    def parameters(self, gamma: float | None = None) -> dict[str, Any]:
        """Keyword arguments for `pairwise_kernels`; `gamma` is used if the kernel has none."""
        if not isinstance(self.function, str):
            return {}
        values = {"gamma": gamma if self.gamma is None else self.gamma, "degree": self.degree, "coef0": self.coef0}
        return {name: values[name] for name in _TAKES.get(self.function, ())}


def make_kernel(given: Any) -> Kernel:
    """Kernel from a name, a callable or a `Kernel`, its parameters checked."""
    kernel = given if isinstance(given, Kernel) else Kernel(given)
    kernel._validate_params()
    return kernel
