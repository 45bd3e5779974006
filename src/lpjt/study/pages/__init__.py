"""Pages of the documentation, written from stored results alone."""
