"""Small faults that can be planted in a Python file: where, and what each one changes.

Positions are bytes of the file, as `ast` counts columns, so that a fault changes nothing but its own few characters.
Left out, because no test should have to notice: docstrings, annotations, decorators, blocks for type checkers,
`__all__`, and the words of messages.
"""

import ast
import difflib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise

#: What an operator is written as, and what it is exchanged for.
OPERATORS: dict[type[ast.AST], tuple[str, ...]] = {
    **{ast.Lt: ("<", "<=", ">="), ast.LtE: ("<=", "<", ">"), ast.Gt: (">", ">=", "<="), ast.GtE: (">=", ">", "<")},
    **{ast.Eq: ("==", "!="), ast.NotEq: ("!=", "=="), ast.Is: ("is", "is not"), ast.IsNot: ("is not", "is")},
    **{ast.In: ("in", "not in"), ast.NotIn: ("not in", "in"), ast.And: ("and", "or"), ast.Or: ("or", "and")},
    **{ast.Add: ("+", "-"), ast.Sub: ("-", "+"), ast.Mult: ("*", "/"), ast.Div: ("/", "*"), ast.Pow: ("**", "*")},
    **{ast.FloorDiv: ("//", "*"), ast.Mod: ("%", "*"), ast.MatMult: ("@", "*")},
    **{ast.BitAnd: ("&", "|"), ast.BitOr: ("|", "&")},
    **{ast.Not: ("not", ""), ast.Invert: ("~", ""), ast.USub: ("-", "+")},
}
_PAIRS = [("min", "max"), ("minimum", "maximum"), ("argmin", "argmax"), ("any", "all"), ("floor", "ceil")]
SWAPS = dict(_PAIRS) | {b: a for a, b in _PAIRS}
#: Keywords that change what is checked or copied, not what comes out for valid input.
IDLE_KEYWORDS = {"check_finite", "copy", "overwrite_a", "overwrite_b", "stacklevel", "strict"}


@dataclass(frozen=True, slots=True)
class Mutant:
    """One planted fault: the bytes `start` to `end` of the file become `after`."""

    path: str  # below the project's root
    line: int
    function: str  # dotted name of the function or class it is in, or "" at the top of the file
    kind: str
    start: int
    end: int
    after: str
    lines: tuple[int, int] | None  # a test notices only if it runs one of these; None: the fault acts on import

    def apply(self, source: bytes) -> bytes:
        """The file with the fault in it."""
        return source[: self.start] + self.after.encode() + source[self.end :]

    def diff(self, source: bytes) -> list[str]:
        """The lines that change, marked - and +."""
        before, after = (text.decode().splitlines() for text in (source, self.apply(source)))
        changes = difflib.unified_diff(before, after, n=0, lineterm="")
        return [line for line in changes if line[0] in "+-" and line[:3] not in ("+++", "---")]

    def changes_the_program(self, source: bytes) -> bool:
        """Whether the file still is Python, and another program than before."""
        try:
            return ast.dump(ast.parse(self.apply(source))) != ast.dump(ast.parse(source))
        except SyntaxError:
            return False


@dataclass
class Defaults:
    """Default values in a package: by callee and keyword, and by keyword alone."""

    by_callee: dict[str, dict[str, str]] = field(default_factory=dict)
    by_keyword: dict[str, Counter[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, sources: Iterable[bytes]) -> "Defaults":
        """Collect them from the files of a package."""
        defaults = cls()
        for source in sources:
            defaults._collect(ast.parse(source), "")
        return defaults

    def _collect(self, scope: ast.AST, owner: str) -> None:
        for node in ast.iter_child_nodes(scope):
            if isinstance(node, ast.ClassDef):
                self.by_callee.setdefault(node.name, {})
                self._collect(node, node.name)
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                callee = owner if node.name == "__init__" else node.name
                self.by_callee.setdefault(callee, {})
                for argument, value in _defaults_of(node.args):
                    self._add(callee, argument.arg, value)
                self._collect(node, "")
            elif isinstance(node, ast.AnnAssign) and owner and node.value and isinstance(node.target, ast.Name):
                self._add(owner, node.target.id, node.value)

    def _add(self, callee: str, keyword: str, value: ast.expr) -> None:
        try:
            ast.literal_eval(value)
        except ValueError:
            return
        self.by_callee[callee][keyword] = ast.unparse(value)
        self.by_keyword.setdefault(keyword, Counter())[ast.unparse(value)] += 1

    def value(self, callee: str, keyword: str) -> str | None:
        """The default that a call falls back to without the keyword.

        Where a function of the package has none: the commonest default of parameters of that name.
        """
        known = self.by_callee.get(callee)
        if known is None or keyword in known:
            return (known or {}).get(keyword)
        common = self.by_keyword.get(keyword)
        return common.most_common(1)[0][0] if common else None


def find_mutants(path: str, source: bytes, defaults: Defaults) -> list[Mutant]:
    """Every fault that can be planted in a file, in the order of its text."""
    finder = _Finder(path, source, defaults)
    finder.block(ast.parse(source))
    return sorted(finder.found, key=lambda mutant: (mutant.start, mutant.end, mutant.after))


class _Finder(ast.NodeVisitor):
    def __init__(self, path: str, source: bytes, defaults: Defaults) -> None:
        self.path, self.source, self.defaults = path, source, defaults
        self.found: list[Mutant] = []
        self.names: list[str] = []
        self.lines: tuple[int, int] | None = None
        self.inside = False  # of a function
        self.starts = [0]
        for line in source.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))

    # -- where things are ---------------------------------------------------------------------------------------------
    def start(self, node: ast.expr | ast.stmt | ast.keyword) -> int:
        return self.starts[node.lineno - 1] + node.col_offset

    def end(self, node: ast.expr | ast.stmt | ast.keyword) -> int:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self.starts[node.end_lineno - 1] + node.end_col_offset

    def add(self, kind: str, start: int, end: int, after: str) -> None:
        line = self.source.count(b"\n", 0, start) + 1
        self.found.append(Mutant(self.path, line, ".".join(self.names), kind, start, end, after, self.lines))

    def replace(self, kind: str, node: ast.expr | ast.stmt | ast.keyword, after: str) -> None:
        self.add(kind, self.start(node), self.end(node), after)

    def operator(self, kind: str, operator: ast.AST, start: int, end: int, suffix: str = "") -> None:
        """Exchange the operator that stands between two places."""
        symbol, *others = OPERATORS.get(type(operator), ("",))
        gap = self.source[start:end]
        place = gap.find((symbol + suffix).encode())
        if place >= 0 and b"#" not in gap:
            for other in others:
                self.add(kind, start + place, start + place + len(symbol), other)

    # -- statements ---------------------------------------------------------------------------------------------------
    def block(self, node: ast.AST) -> None:
        """Visit what a module, class or function holds, except its docstring."""
        body: list[ast.stmt] = getattr(node, "body", [])
        for number, statement in enumerate(body):
            if not (number == 0 and isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)):
                self.visit(statement)

    def visit(self, node: ast.AST) -> None:
        if isinstance(node, ast.stmt) and self.inside:
            # Of a statement with a body, only its head.
            body = getattr(node, "body", None)
            last = max(node.lineno, body[0].lineno - 1) if body else node.end_lineno
            self.lines = (node.lineno, last or node.lineno)
        super().visit(node)

    def scope(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef, inside: bool) -> None:
        outer = self.inside, self.lines
        self.names.append(node.name)
        self.inside, self.lines = inside, None
        self.block(node)
        self.names.pop()
        self.inside, self.lines = outer

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self.scope(node, inside=False)

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        lines = self.lines
        self.lines = (node.body[0].lineno, node.body[-1].end_lineno or node.body[-1].lineno)
        self.names.append(node.name)
        for _, value in _defaults_of(node.args):
            self.visit(value)
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                self.replace("default", value, "None")
        self.names.pop()
        self.lines = lines
        self.scope(node, inside=True)

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Assign(self, node: ast.Assign) -> None:
        if not any(isinstance(target, ast.Name) and target.id == "__all__" for target in node.targets):
            self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None and "TypeAlias" not in ast.unparse(node.annotation):
            self.visit(node.value)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self.replace("statement", node, "pass")
        self.operator("arithmetic", node.op, self.end(node.target), self.start(node.value), suffix="=")
        self.generic_visit(node)

    def visit_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Call):
            self.replace("statement", node, "pass")
        self.generic_visit(node)

    def visit_Raise(self, node: ast.Raise) -> None:
        self.replace("statement", node, "pass")

    def visit_Continue(self, node: ast.Continue) -> None:
        self.replace("statement", node, "pass")

    def visit_Break(self, node: ast.Break) -> None:
        self.replace("statement", node, "pass")

    def visit_Return(self, node: ast.Return) -> None:
        if node.value is not None and not (isinstance(node.value, ast.Constant) and node.value.value is None):
            self.replace("return", node.value, "None")
            self.visit(node.value)

    def visit_If(self, node: ast.If | ast.IfExp | ast.While) -> None:
        if "TYPE_CHECKING" in ast.unparse(node.test):
            return
        if isinstance(node.test, ast.Name | ast.Attribute | ast.Call | ast.Subscript):
            self.replace("condition", node.test, f"not {self.text(node.test)}")
        self.generic_visit(node)

    visit_IfExp = visit_While = visit_If

    # -- expressions --------------------------------------------------------------------------------------------------
    def text(self, node: ast.expr) -> str:
        return self.source[self.start(node) : self.end(node)].decode()

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Leave the words of messages alone."""

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, bool):
            self.replace("constant", node, str(not node.value))
        elif isinstance(node.value, int):
            self.replace("constant", node, str(node.value + 1))
        elif isinstance(node.value, float):
            self.replace("constant", node, repr(node.value + 0.5))

    def visit_Compare(self, node: ast.Compare) -> None:
        for operator, (left, right) in zip(node.ops, pairwise([node.left, *node.comparators]), strict=True):
            self.operator("comparison", operator, self.end(left), self.start(right))
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        for left, right in pairwise(node.values):
            self.operator("boolean", node.op, self.end(left), self.start(right))
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        self.operator("arithmetic", node.op, self.end(node.left), self.start(node.right))
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        self.operator("unary", node.op, self.start(node), self.start(node.operand))
        self.generic_visit(node)

    def visit_Slice(self, node: ast.Slice) -> None:
        for bound, change in ((node.lower, "+ 1"), (node.upper, "- 1")):
            if bound is not None and not isinstance(bound, ast.Constant):
                self.replace("slice", bound, f"({self.text(bound)}) {change}")
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
        if name in SWAPS:
            end = self.end(node.func)
            self.add("swap", end - len(name), end, SWAPS[name])
        for keyword in node.keywords:
            if keyword.arg in IDLE_KEYWORDS:
                continue
            default = self.defaults.value(name, keyword.arg) if keyword.arg else None
            if default is not None:
                self.replace("keyword", keyword.value, default)
            elif keyword.arg and name not in self.defaults.by_callee:  # another package's: its default, whatever it is
                self.replace("keyword", keyword, "**{}")
            self.visit(keyword.value)
        for part in (node.func, *node.args):
            self.visit(part)


def _defaults_of(arguments: ast.arguments) -> Iterator[tuple[ast.arg, ast.expr]]:
    positional = [*arguments.posonlyargs, *arguments.args]
    if arguments.defaults:
        yield from zip(positional[-len(arguments.defaults) :], arguments.defaults, strict=True)
    for argument, value in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        if value is not None:
            yield argument, value
