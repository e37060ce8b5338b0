"""What Scaffale costs, as ratios to bare engines measured in the same run. See `python -m benchmarks --help`."""
