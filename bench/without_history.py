"""`flagstaff serve` with a recorder that discards everything, to measure the cost of the history."""

from flagstaff.cli.main import main
from flagstaff.history.buffer import Buffer

Buffer.record = lambda *_: None  # type: ignore[method-assign]
main()
