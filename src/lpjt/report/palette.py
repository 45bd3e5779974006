"""Colours and marks of every drawing: pages, `lpjt.plot` and the figures of the study."""

#: Of lines; Okabe and Ito's palette, which the colour-blind tell apart. Markers differ too, for print in grey.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")

#: Of classes; Tol's muted palette with a darker grey.
CLASS_COLOURS = (
    "#332288", "#88CCEE", "#44AA99", "#117733", "#999933", "#DDCC77", "#CC6677", "#882255", "#AA4499", "#777777",
)  # fmt: skip

#: The same ten on paper as text and points, and on a dark screen: each has a contrast of 3 or more with its ground.
CLASS_COLOURS_LIGHT = (
    "#332288", "#2F8FC4", "#1E8A7A", "#117733", "#7D7D1A", "#A68A0C", "#C2485A", "#882255", "#AA4499", "#666666",
)  # fmt: skip
CLASS_COLOURS_DARK = (
    "#9C8CFF", "#88CCEE", "#44C7B0", "#4FC46A", "#C4C44A", "#E8D67A", "#F08A9A", "#D9679A", "#DB8AD0", "#B4B4B4",
)  # fmt: skip

#: Of everything but data: notes of the axes, lines at defaults, frames.
QUIET = "#555555"

#: Of the two sides of a transfer.
SOURCE, TARGET = COLOURS[0], COLOURS[1]
