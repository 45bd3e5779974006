"""Time and memory of a fit, as ratios to X'X and to the size of the input: ``lpjt bench``."""
