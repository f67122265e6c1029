"""The process around agents: starting, addressing, storing, asking people, showing, scripting."""
