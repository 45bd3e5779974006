"""A small writer of ONNX nodes, all in float64: a name stands for a tensor."""

from typing import Any

import numpy as np

from lpjt._typing import Array

#: Version of the operators that are used here.
OPSET = 18


class Graph:
    """Adds nodes to the container of a conversion by skl2onnx; every method returns the name of its result."""

    def __init__(self, scope: Any, container: Any) -> None:
        self.scope, self.container = scope, container

    def constant(self, value: Any) -> str:
        """A tensor of numbers: float64, int64 for whole numbers."""
        from onnx import TensorProto

        array = np.asarray(value)
        whole = array.dtype.kind in "iu"
        array = array.astype(np.int64 if whole else np.float64)
        name = str(self.scope.get_unique_variable_name("constant"))
        kind = TensorProto.INT64 if whole else TensorProto.DOUBLE
        self.container.add_initializer(name, kind, list(array.shape), array.ravel().tolist())
        return name

    def texts(self, values: list[str]) -> str:
        """A tensor of texts, (n,)."""
        from onnx import TensorProto

        name = str(self.scope.get_unique_variable_name("texts"))
        encoded = [value.encode("utf-8") for value in values]
        self.container.add_initializer(name, TensorProto.STRING, [len(encoded)], encoded)
        return name

    def node(self, kind: str, *inputs: str, outputs: int = 1, into: str | None = None, **attributes: Any) -> Any:
        """The result of an operator, or its results as a list if there are several."""
        names = [into or str(self.scope.get_unique_variable_name(kind.lower())) for _ in range(outputs)]
        self.container.add_node(
            kind,
            list(inputs),
            names,
            op_version=OPSET,
            name=self.scope.get_unique_operator_name(kind),
            **attributes,
        )
        return names[0] if outputs == 1 else names

    def sum_rows(self, X: str, axis: int = 1, *, keep: bool = True) -> str:
        """Sums along an axis, which stays with the size 1 if `keep`."""
        return str(self.node("ReduceSum", X, self.constant(np.array([axis])), keepdims=int(keep)))

    def affine(self, X: str, matrix: Array, offset: Any = None) -> str:
        """X matrix + offset."""
        product = str(self.node("MatMul", X, self.constant(np.asarray(matrix, dtype=np.float64))))
        return product if offset is None else self.plus(product, offset)

    def plus(self, X: str, value: Any) -> str:
        """X + value."""
        return str(self.node("Add", X, self.constant(np.asarray(value, dtype=np.float64))))

    def times(self, X: str, value: Any) -> str:
        """X * value."""
        return str(self.node("Mul", X, self.constant(np.asarray(value, dtype=np.float64))))

    def at_least(self, X: str, value: float) -> str:
        """Entries of X, but no less than a value."""
        return str(self.node("Max", X, self.constant(np.float64(value))))

    def unit_rows(self, X: str) -> str:
        """Rows of unit length; rows of zeros stay zero."""
        return self.divide(X, str(self.node("Sqrt", self.sum_rows(str(self.node("Mul", X, X))))), 1.0)

    def shares(self, F: str, n_classes: int) -> str:
        """Rows that sum to 1; rows of zeros become uniform."""
        total = self.sum_rows(F)
        positive = self.node("Greater", total, self.constant(np.float64(0)))
        uniform = self.constant(np.full((1, n_classes), 1 / n_classes))
        return str(self.node("Where", positive, self.divide(F, total, 1.0), uniform))

    def divide(self, X: str, by: str, instead: float) -> str:
        """X over positive numbers; where they are zero, over another one."""
        positive = self.node("Greater", by, self.constant(np.float64(0)))
        return str(self.node("Div", X, self.node("Where", positive, by, self.constant(np.float64(instead)))))

    def squared_distances(self, X: str, rows: Array) -> str:
        """Squared distances, (n, n_rows), of X to constant rows."""
        rows = np.asarray(rows, dtype=np.float64)
        norms = self.sum_rows(str(self.node("Mul", X, X)))
        cross = self.affine(X, -2 * rows.T, (rows**2).sum(axis=1)[None])
        return self.at_least(str(self.node("Add", cross, norms)), 0.0)

    def nearest(self, X: str, rows: Array, k: int) -> tuple[str, str]:
        """Squared distances and indices, (n, k), of the nearest constant rows."""
        k = min(k, len(rows))
        kept = self.constant(np.array([k]))
        squared, indices = self.node("TopK", self.squared_distances(X, rows), kept, outputs=2, axis=1, largest=0)
        return squared, indices
