"""A model: neutral messages in, events out."""
