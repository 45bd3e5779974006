"""One thread of torch, as the networks of these tests are too small for more, and shorter epochs."""

import pytest


@pytest.fixture(autouse=True, scope="session")
def one_thread():
    try:
        import torch
    except ImportError:
        yield
        return
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def few_batches():
    """Epochs of five batches, for tests that do not ask how much was learned."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("lpjt.deep._batches.MIN_BATCHES", 5)
        yield
