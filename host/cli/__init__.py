"""The command line. Its modules load what they need when a command runs, so that help comes at once."""
