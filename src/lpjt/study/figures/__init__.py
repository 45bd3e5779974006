"""The figures of the paper, computed anew, and those of the documentation."""
