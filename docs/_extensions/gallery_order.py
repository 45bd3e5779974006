"""Order of the gallery: from data, over labels and sizes, to tools."""

ORDER = (
    "sensors_that_drift",
    "tables_with_gaps",
    "image_embeddings",
    "text_of_another_domain",
    "different_channels",
    "few_labels",
    "several_sources",
    "partial_targets",
    "choosing_parameters",
    "reading_the_report",
    "saving_and_predicting",
    "million_rows",
    "dask_cluster",
    "adding_a_method",
)


def by_topic(name):
    """Place of a file of the examples; one that is not listed is an error, so that none is forgotten."""
    return ORDER.index(name.removesuffix(".py"))
