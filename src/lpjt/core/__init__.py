"""The mathematics: pure functions on arrays. The stages do not know each other; `alternation` joins them."""
