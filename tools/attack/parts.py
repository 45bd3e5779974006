"""The parts of the attack by name, each imported when it is run."""

from importlib import import_module

from attack.part import Part

#: In the order of the table. A part is the variable PART of its module.
MODULES: dict[str, str] = {
    "fits": "attack.fits",
    "files": "attack.files",
    "kills": "attack.kills",
    "numbers": "attack.numbers",
    "load": "attack.load",
    "distributed": "attack.distributed",
}


def load(name: str) -> Part:
    """The part of this name."""
    if name not in MODULES:
        raise SystemExit(f"{name!r} is no part of the attack. Choose from: {', '.join(MODULES)}.")
    part = import_module(MODULES[name]).PART
    if not isinstance(part, Part):
        raise TypeError(f"PART of {MODULES[name]} is a {type(part).__name__}, not a Part.")
    return part
