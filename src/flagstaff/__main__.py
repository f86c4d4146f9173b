"""`python -m flagstaff` is the `flagstaff` command."""

from flagstaff.cli.main import main

main()
