"""Signals while a server's modules are imported: nothing has begun, so they end the process with status 0.

Before this, only the start of the interpreter itself is ended by a signal as any other program is. Imports no library.
"""

import os
import signal


def end_by_signals() -> None:
    """Let SIGTERM, Ctrl-C and SIGHUP end the process with status 0 until the server handles them itself."""
    numbers = [signal.SIGTERM, signal.SIGINT]
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # `nohup` ignores it
        numbers.append(signal.SIGHUP)
    for number in numbers:
        signal.signal(number, lambda *_: os._exit(0))  # an exception could be lost in an import
