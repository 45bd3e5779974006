"""Training that is interrupted goes on from its last epoch: what a checkpoint holds, and whose it is."""

import io
import json
import os
from hashlib import sha256
from typing import Any

import numpy as np

from lpjt._whole_files import write_whole
from lpjt.deep._batches import Rows
from lpjt.deep._torch import torch


def fingerprint(name: str, parameters: dict[str, Any], rows: Rows) -> str:
    """Hexadecimal digits of all that decides a fit: the method, its parameters, and the rows."""
    digest = sha256(json.dumps([name, parameters], sort_keys=True, default=repr).encode())
    for tensor in (rows.X_source, rows.y_source, rows.X_target, rows.y_target):
        array = np.ascontiguousarray(tensor.numpy())
        digest.update(f"{array.shape}{array.dtype}".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()


def save_checkpoint(path: str | os.PathLike[str], state: dict[str, Any], owner: str) -> None:
    """Write tensors, numbers and texts, whole or not at all, over the checkpoint of the epoch before."""
    content = io.BytesIO()
    torch.save({"owner": owner, "state": state}, content)
    write_whole(path, content.getvalue(), overwrite=True)


def load_checkpoint(path: str | os.PathLike[str], owner: str) -> dict[str, Any] | None:
    """The state that was saved, None if there is no file; that of another fit is refused. Nothing is executed."""
    if not os.path.exists(path):
        return None
    try:
        content = torch.load(path, weights_only=True)
        found, state = content["owner"], content["state"]
    except Exception as error:  # whatever torch raises for a file that is not its own, or is damaged
        raise ValueError(
            f"checkpoint={os.fspath(path)!r} is not a checkpoint of lpjt.deep. Name another file."
        ) from error
    if found != owner:
        raise ValueError(
            f"checkpoint={os.fspath(path)!r} is of a fit of other rows or parameters. Name another file, or remove it."
        )
    return dict(state)
