"""Methods over tasks: what is run, how one run becomes one row, and which runs a table needs."""
