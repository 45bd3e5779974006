"""Tables of results: printed figures, measured ones beside them, and both as text, CSV or HTML."""
