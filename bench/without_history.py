"""`flagstaff serve` with a recorder that forgets, to see what the history costs."""

from flagstaff.cli.main import main
from flagstaff.runtime.recorder import Recorder

Recorder.record = lambda *_: None  # type: ignore[method-assign]
main()
