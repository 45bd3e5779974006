"""Array types of the baselines."""

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from lpjt._typing import Sparse

#: What a caller may give as rows, (n, width): an array, a frame, a list of rows or a sparse matrix.
MatrixLike: TypeAlias = npt.ArrayLike | Sparse

#: The rows of the source, or of several sources by name, and their labels.
SourcesLike: TypeAlias = MatrixLike | Mapping[str, MatrixLike]
SourceLabelsLike: TypeAlias = npt.ArrayLike | Mapping[str, npt.ArrayLike]

#: Real numbers, float32 or float64.
Floats: TypeAlias = npt.NDArray[np.floating[Any]]

#: Codes of labels, positions in `classes_`; -1 where a row is unlabelled.
Codes: TypeAlias = npt.NDArray[np.integer[Any]]

#: Positions of rows.
Indices: TypeAlias = npt.NDArray[np.integer[Any]]

Flags: TypeAlias = npt.NDArray[np.bool_]

#: Labels as the caller gave them, of any dtype.
Labels: TypeAlias = npt.NDArray[Any]

#: Allowed values per parameter, for scikit-learn's validation.
Constraints: TypeAlias = dict[str, list[Any]]
