"""Programs of one screen each. Run one with `python examples/NAME.py`, with any model that is found."""
