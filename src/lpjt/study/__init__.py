"""Our own tables and benchmarks: methods over tasks, time and memory, printed figures beside measured ones, pages.

Rooms: `runs` (methods over tasks, stored), `speed` (time and memory), `robust` (is adaptation safe), `tables` (printed
beside measured), `figures`, `pages`. They share one runner, one store and one way to call a function in another
process. Nothing of the library imports this package but the commands ``lpjt reproduce`` and ``lpjt bench``.
"""
