"""Cost of a fit, in passes of X'X and in bytes beyond the input: ``lpjt bench``."""
