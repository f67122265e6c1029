"""An agent: its mailbox, its history, its context, its turn."""
