"""The conformance suite, run on our estimators and on those of other libraries."""
