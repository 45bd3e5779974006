"""The paper's tables: methods, jobs, one row a run, a store that survives a kill, and the runner."""
