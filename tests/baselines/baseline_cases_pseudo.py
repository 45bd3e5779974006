"""Cases of the parameters of methods that learn from pseudo labels of the target."""

import numpy as np
from baseline_cases import case, easy_pair


@case("pca_components", "SPL")
def principal_components_bound_the_rank_of_the_embedding(fit):
    pair = easy_pair()
    rows = np.vstack([pair.X, pair.X_target])
    for pca_components in (2, 4):
        model = fit(pair, pca_components=pca_components, max_iter=2, scaling="none")
        assert model.transform(pair.X_target).shape[1] == pca_components
        # The embedding is a function of these components alone: rows that agree in them are embedded alike.
        directions = np.linalg.svd(rows - rows.mean(axis=0))[2]
        moved = pair.X_target + directions[pca_components]
        assert np.allclose(model.transform(moved), model.transform(pair.X_target))
