"""Is adaptation safe where the target lacks classes, has other proportions, or no shift: ``lpjt bench robust``."""
