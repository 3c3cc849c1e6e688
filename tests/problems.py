"""Small problems that every estimator test shares."""

import numpy as np
from scipy import sparse


def regression(n=300, d=5, seed=0, dtype=np.float64, outputs=None):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    columns = [np.sin(X[:, 0] + k) + X[:, 1] * X[:, 2] for k in range(outputs or 1)]
    y = np.stack(columns, axis=1) + 0.1 * rng.normal(size=(n, outputs or 1))
    return X.astype(dtype), (y if outputs else y[:, 0])


def classification(n=300, d=5, classes=3, seed=0, dtype=np.float64):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    scores = np.stack([np.sin(X[:, k % d]) + X[:, (k + 1) % d] ** 2 for k in range(classes)])
    labels = np.array([f"class {k}" for k in range(classes)])
    return X.astype(dtype), labels[(scores + 0.3 * rng.normal(size=scores.shape)).argmax(axis=0)]


def as_csr(X):
    return sparse.csr_array(X)
