"""One function a section: the builder's values in, a section or nothing out."""
