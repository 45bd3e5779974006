"""The losses as their papers define them, with loops over rows and classes; numpy alone, no code of the package."""

import itertools

import numpy as np


def softmax(row):
    return np.exp(row) / sum(np.exp(row))


def squared(a, b):
    return sum((x - y) ** 2 for x, y in zip(a, b, strict=True))


def spread(rows):
    """Mean squared distance of pairs of different rows."""
    pairs = list(itertools.combinations(rows, 2))
    return sum(squared(a, b) for a, b in pairs) / len(pairs)


def linear_mmd(A, B):
    return squared(A.mean(axis=0), B.mean(axis=0)) / spread(np.vstack([A, B]))


def kernel_mmd(A, B, weights=None, n_kernels=5):
    weights = np.full(len(A), 1 / len(A)) if weights is None else weights
    s = spread(np.vstack([A, B]))

    def kernel(a, b):
        exponents = [k - n_kernels // 2 for k in range(n_kernels)]
        return np.mean([np.exp(-squared(a, b) / (s * 2.0**e)) for e in exponents])

    total = 0.0
    for a, w in zip(A, weights, strict=True):
        total += sum(w * v * kernel(a, b) for b, v in zip(A, weights, strict=True))
        total -= 2 * sum(w * kernel(a, b) for b in B) / len(B)
    return total + sum(kernel(a, b) for a in B for b in B) / len(B) ** 2


def entropy(p):
    return -sum(x * np.log(x) for x in p if x > 0)


def information(scores):
    P = [softmax(row) for row in scores]
    return entropy(np.mean(P, axis=0)) - np.mean([entropy(p) for p in P])


def domain_loss(a, b, v=None, w=None):
    v, w = (np.ones(len(x)) if weights is None else weights for x, weights in ((a, v), (b, w)))
    of_source = np.mean([-weight * np.log(1 / (1 + np.exp(-x))) for x, weight in zip(a, v, strict=True)])
    of_target = np.mean([-weight * np.log(1 - 1 / (1 + np.exp(-x))) for x, weight in zip(b, w, strict=True)])
    return (of_source + of_target) / 2


def certainty(scores):
    weights = [1 + np.exp(-entropy(softmax(row))) for row in scores]
    return np.array(weights) / np.mean(weights)


def discrepancy(A, B):
    return np.mean([np.mean(np.abs(softmax(a) - softmax(b))) for a, b in zip(A, B, strict=True)])


def pair_loss(U, y):
    terms = []
    for i, j in itertools.permutations(range(len(U)), 2):
        s = 0.5 * float(U[i] @ U[j])
        terms.append(np.log(1 + np.exp(s)) - (s if y[i] == y[j] else 0.0))
    return np.mean(terms)


def class_similarity(U, V, y, n_classes):
    return np.array([
        [np.log(np.mean([np.exp(u @ v) for v, c in zip(V, y, strict=True) if c == k])) for k in range(n_classes)]
        for u in U
    ])  # fmt: skip


def orthogonality(M):
    cosines = [
        float(a @ b) / np.sqrt(float(a @ a) * float(b @ b)) for a, b in itertools.permutations(M, 2)
    ]  # fmt: skip
    return np.mean(np.square(cosines))


def joint_costs(A, y, B, scores, distance, label):
    return np.array([
        [distance * squared(a, b) / len(a) - label * np.log(softmax(s)[c]) for b, s in zip(B, scores, strict=True)]
        for a, c in zip(A, y, strict=True)
    ])  # fmt: skip
