"""What a few labels of the target are worth: rows that a fit asks for against rows drawn at random."""
