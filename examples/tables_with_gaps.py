"""
Tables as people have them
==========================

My tables have texts, dates, gaps and other columns than last year: what now? `TableAdapter` stands in front of
`LPJT`. It matches columns by name, fills gaps, encodes texts and dates, remembers all of it for new rows, and says
what it did. On files, ``lpjt adapt last_year.csv this_year.csv -o labels.csv --label kind`` does the same.
"""

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier

from lpjt import LPJT, TableAdapter

rng = np.random.default_rng(0)
kinds = np.array(["birch", "elm", "oak"])
usual = pd.DataFrame({"height": [9, 14, 19], "girth": [0.9, 1.1, 1.7], "crown": [4, 8, 7]}, index=kinds, dtype=float)


def survey(n, year):
    """Trees of a year: what was measured, and the kind of each."""
    kind = rng.choice(kinds, size=n)
    table = usual.loc[kind].reset_index(drop=True) * rng.normal(1, 0.13, size=(n, 3))
    table["soil"] = np.where(rng.random(n) < np.where(kind == "oak", 0.8, 0.3), "clay", "sand")
    table["seen"] = pd.Timestamp(f"{year}-05-01") + pd.to_timedelta(rng.integers(0, 90, n), unit="D")
    return table.mask(rng.random(table.shape) < 0.05), kind  # five cells in a hundred are missing


last_year, kind = survey(250, 2025)
this_year, truth = survey(250, 2026)
this_year[["height", "girth", "crown"]] *= [1.5, 1.3, 1.4]  # the trees grew,
this_year = this_year[["soil", "crown", "seen", "height", "girth"]].assign(remark="none")  # and so did the table

# %%
# A random forest reads numbers with gaps by itself, and stands for what one would do without adaptation.

adapter = TableAdapter(LPJT(random_state=0)).fit(last_year, kind, this_year)
numbers = ["height", "girth", "crown"]
plain = RandomForestClassifier(random_state=0).fit(last_year[numbers], kind)
print(f"random forest, no adaptation: {plain.score(this_year[numbers], truth):.1%} right")
print(f"TableAdapter and LPJT:        {np.mean(adapter.transduction_ == truth):.1%}")

# %%
# What became of each column, and what was left out.

print(pd.DataFrame(adapter.columns_)[["name", "kind", "treatment", "used"]].to_string(index=False))
print("\n".join(adapter.notes_))
