"""Choosing without target labels: which iterate, which scaling, and whether to adapt at all."""
