"""Where the time of one fit goes: stages, functions and whole stacks."""

import cProfile
import sys
import threading
import time
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from lpjt.study.speed.data import open_pair
from lpjt.study.speed.measure import fit_few_rows
from lpjt.study.speed.methods import METHODS
from lpjt.study.tables.sheet import MISSING, Sheet

#: Seconds between two looks at the stack.
PAUSE = 0.002

#: Frames that count for the function around them: comprehensions, and the detour by which numpy calls a method.
_FOLDED = frozenset({"<listcomp>", "<genexpr>", "<dictcomp>", "<setcomp>", "_wrapfunc"})

Place = tuple[str, int, str]  # file, first line and name of a function, as cProfile has them
Stack = tuple[Place, ...]  # the outermost function first


@dataclass(frozen=True, slots=True, eq=False)
class Profile:
    """One fit: its time by stage and by stack, and the calls of another fit of the same rows."""

    seconds: float
    stages: dict[str, float]  # seconds
    stacks: dict[Stack, float]  # seconds in which this was the stack
    calls: dict[Place, int]


class StackSampler(threading.Thread):
    """Looks at the stack of another thread again and again.

    A look counts for the time since the one before: a routine that keeps the interpreter's lock delays the next look,
    which then still finds its caller.
    """

    def __init__(self, thread: int, root: CodeType) -> None:
        super().__init__(daemon=True)
        self.stacks: Counter[Stack] = Counter()
        self._thread, self._root = thread, root
        self._ended = threading.Event()

    def run(self) -> None:
        """Sample until the end."""
        last = time.perf_counter()
        while not self._ended.wait(PAUSE):
            frame = sys._current_frames().get(self._thread)
            stack = tuple(reversed(list(self._places(frame))))
            now = time.perf_counter()
            if stack:
                self.stacks[stack] += now - last  # type: ignore[assignment]
            last = now

    def stop(self) -> dict[Stack, float]:
        """End, and return the seconds of every stack."""
        self._ended.set()
        self.join()
        return dict(self.stacks)

    def _places(self, frame: FrameType | None) -> Iterator[Place]:
        """Functions from the innermost one to those below the root; nothing where the root does not run."""
        found: list[Place] = []
        while frame is not None:
            if frame.f_code is self._root:
                yield from found
                return
            code = frame.f_code
            if code.co_name not in _FOLDED:
                found.append((code.co_filename, code.co_firstlineno, code.co_name))
            frame = frame.f_back


def profile_fit(data: Mapping[str, Any], *, n_threads: int = 1) -> Profile:
    """Fit the rows that `data` describes twice: once for the time, looked at from outside, and once to count calls.

    Counting calls makes small functions look slower than they are, and looking from outside sees no calls. With more
    than one thread, what the others do is not seen: the fit waits for them.
    """
    warnings.simplefilter("ignore")
    method = METHODS["LPJT"]
    parameters = {**method.parameters, "n_jobs": n_threads}
    fit_few_rows(method, parameters)
    pair = open_pair(data)

    def fit() -> Any:
        return method.fit(pair.X_source, pair.y_source, pair.X_target, parameters)

    sampler = StackSampler(threading.get_ident(), fit.__code__)
    sampler.start()
    start = time.perf_counter()
    fitted = fit()
    seconds = time.perf_counter() - start
    stacks = sampler.stop()
    calls = cProfile.Profile()
    calls.runcall(fit)
    counted = {
        (entry.code.co_filename, entry.code.co_firstlineno, entry.code.co_name): entry.callcount
        for entry in calls.getstats()
        if not isinstance(entry.code, str)
    }
    return Profile(seconds, fitted.facts["stages"], stacks, counted)


def name_of(place: Place) -> str:
    """A function as module and name, such as ``lpjt.core.moments: within``."""
    file, _, name = place
    parts = Path(file).with_suffix("").parts
    roots = [i for i, part in enumerate(parts) if part in ("site-packages", "src")]
    parts = parts[roots[-1] + 1 :] if roots else parts[-1:]
    return f"{'.'.join(part for part in parts if part != '__init__')}: {name}"


def stages_sheet(profile: Profile) -> Sheet:
    """Share of the time by stage, and what no stage has."""
    other = max(0.0, profile.seconds - sum(profile.stages.values()))
    named = sorted(profile.stages.items(), key=lambda item: -item[1])
    rows = [(name, _share(seconds / profile.seconds), f"{seconds:.3f}") for name, seconds in [*named, ("other", other)]]
    return Sheet("By stage", ("stage", "time, %", "seconds"), [tuple(row) for row in rows])


def functions_sheet(profile: Profile, most: int = 25) -> Sheet:
    """Functions by the time that they spend themselves; routines without Python code count for their caller."""
    own: Counter[Place] = Counter()
    whole: Counter[Place] = Counter()
    for stack, seconds in profile.stacks.items():
        own[stack[-1]] += seconds  # type: ignore[assignment]
        for place in set(stack):
            whole[place] += seconds  # type: ignore[assignment]
    seen = sum(own.values()) or 1.0
    rows = [
        (name_of(place), _share(seconds / seen), _share(whole[place] / seen), _count(profile.calls.get(place)))
        for place, seconds in own.most_common(most)
    ]
    return Sheet("By function", ("function", "own time, %", "with callees, %", "calls"), list(rows))


def _share(share: float) -> str:
    return f"{100 * share:.1f}"


def _count(calls: int | None) -> str:
    return MISSING if calls is None else f"{calls:,}"
