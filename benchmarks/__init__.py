"""What things cost, as ratios to floors that are measured in the same run: `python -m benchmarks`."""
