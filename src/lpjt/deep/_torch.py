"""torch, imported with its first use: without it estimators can still be made, copied, compared and documented."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch
    from torch import Generator, Tensor
    from torch.nn import Module, ModuleDict
    from torch.optim import Optimizer
else:
    Generator = Module = ModuleDict = Optimizer = Tensor = Any

    class _Lazy:
        """Stands for the module until an attribute of it is asked for."""

        def __getattr__(self, name: str) -> Any:
            return getattr(load_torch(), name)

    torch = _Lazy()

__all__ = ["Generator", "Module", "ModuleDict", "Optimizer", "Tensor", "load_torch", "torch"]


def load_torch() -> Any:
    """The module itself; without it an error that names the remedy."""
    try:
        import torch as module
    except ImportError as error:
        raise ImportError("`torch` is needed for lpjt.deep. Install it with `pip install 'lpjt[deep]'`.") from error
    return module
