"""The `flagstaff` command, also as `python -m flagstaff`."""

import gc

# What is imported stays for good: walking through it again and again would find nothing and be a sixth of the start.
gc.disable()
from flagstaff.cli.main import main  # noqa: E402

gc.freeze()
gc.enable()

if __name__ == "__main__":
    main()
