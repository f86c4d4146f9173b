"""The evaluation history at volume: `python -m bench.volume --help`."""
