"""What all tests need."""

import signal


def pytest_configure(config):
    """Take interrupts as any program does: a shell that runs the tests in the background has them ignored."""
    del config
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
