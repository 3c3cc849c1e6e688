"""Scores of fitted machines as graphs: decision values, or coded predictions."""

from __future__ import annotations

from functools import singledispatch
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelm.estimators.local import Leaf, LocalMachine, Tree
from kernelm.estimators.solution import STEADY_ROWS, Solver
from kernelm.estimators.steps import BoostedModel
from kernelm.features import Partition
from kernelm.margin.core_classifier import ByCodes, ByVotes
from kernelm.margin.machine import CoreMachine
from kernelm.onnx.features import features, fixed_rows, scaled
from kernelm.onnx.functions import absolute, column, equal, flat, joined, n_rows, repeated, take
from kernelm.onnx.graph import FLOAT64, INT64, Value, apply, either, scan
from kernelm.onnx.kernels import columns
from kernelm.onnx.units import activated

#: Error of float32 scores (root mean square, in units of the coded targets) from which on they
#: are computed in double precision. Stricter than predict, which has no file to keep right.
UNSTEADY = 1e-5


@singledispatch
def scores(machine: Any, X: Value) -> Value:
    """Return the scores of a machine, (n, C), in double precision where they need it."""
    raise TypeError(f"no graph of the machine {type(machine).__name__}")


@scores.register
def _(machine: Solver, X: Value) -> Value:
    X = X.to(FLOAT64) if X.dtype != FLOAT64 and _is_unsteady(machine) else X
    solution = machine.solution
    return features(solution.phi, X) @ solution.weights.coef + solution.weights.intercept


def _is_unsteady(machine: Solver) -> bool:
    """Return whether large weights make the rounding of float32 rows visible."""
    X = machine.sample.head(STEADY_ROWS).X.astype(np.float32)
    gap = machine.solution.scores(X) - machine.solution.scores(X.astype(np.float64))
    return bool(np.sqrt(np.mean(np.square(gap))) > UNSTEADY)


@scores.register
def _(machine: CoreMachine, X: Value) -> Value:
    # Weights of both signs cancel: columns of single-precision rows are not enough.
    parts = features(machine.columns, X.to(FLOAT64)) @ machine.weights + machine.intercept
    if isinstance(machine.combine, ByCodes):
        return parts @ machine.combine.table.T
    if isinstance(machine.combine, ByVotes):
        n = machine.combine.n_classes
        return 2 / (n - 1) * votes(parts, n) - 1
    return parts


def votes(pairs: Value, n_classes: int) -> Value:
    """Return votes of pairs of classes, with a fraction that says how sure they are.

    A positive score of the pair (i, j) is a vote for j.
    """
    pairs_of = np.array(list(combinations(range(n_classes), 2)))
    first, second = np.eye(n_classes)[pairs_of.T]
    wins = (pairs > 0.0).to(pairs.dtype)
    sure = pairs @ (second - first)
    return wins @ (second - first) + first.sum(axis=0) + sure / (3 * (absolute(sure) + 1))


# --- steps, one after the other ------------------------------------------------------------------


@scores.register
def _(machine: BoostedModel, X: Value) -> Value:
    layers, dtype = machine.layers, X.dtype
    start = repeated(machine.intercept, X, dtype)
    if not machine.weights:
        return start
    X.graph.reserve(len(machine.weights) * layers.n_features * layers.n_units * dtype.itemsize)
    drawn = [layers.at(t, dtype) for t in range(len(machine.weights))]
    W, b = np.stack([layer.W for layer in drawn]), np.stack([layer.b for layer in drawn])
    steps = (machine.shrinkage * np.stack(machine.weights)).astype(dtype)
    S = scaled(layers.scaler, X)

    def add(total: Value, W: Value, b: Value, step: Value) -> Value:
        return total + activated(S @ W + b, layers.activation) @ step

    return scan(add, *(X.graph.constant(part) for part in (W, b, steps)), start=start)


# --- leaves of trees -----------------------------------------------------------------------------


@scores.register
def _(machine: LocalMachine, X: Value) -> Value:
    S = scaled(machine.scaler, X)
    trees = [_tree_scores(tree, S, machine.S) for tree in machine.trees]
    total = trees[0]
    for more in trees[1:]:
        total = total + more
    return total * (1 / len(trees)) if len(trees) > 1 else total


def _tree_scores(tree: Tree, S: Value, training: Any) -> Value:
    """Score the rows of each leaf together, and bring them back into their order."""
    if tree.partition.depth == 0:
        return _leaf_scores(tree.leaves[0], S, training)
    at = _leaves(tree.partition, S)
    found, parts = [], []
    for k, leaf in enumerate(tree.leaves):
        rows = apply("Squeeze", apply("NonZero", equal(at, k), dtype=INT64), np.array([0]))
        found.append(rows)
        parts.append(
            either(
                n_rows(rows) > 0,
                take(S, rows, axis=0),
                lambda own, leaf=leaf: _leaf_scores(leaf, own, training),
                lambda own, leaf=leaf: repeated(0 * leaf.weights.intercept, own, S.dtype),
            )
        )
    rows, values = joined(found, axis=0), joined(parts, axis=0)
    return apply("ScatterND", values, column(rows), values)  # every row is in one leaf


def _leaves(partition: Partition, S: Value) -> Value:
    """Return the leaf of each row: the projections on all cuts at once, then a walk down."""
    gap = S @ partition.W - partition.cut
    node = (take(gap, np.array([0]), axis=1) > 0.0).to(INT64) + 1
    for _ in range(partition.depth - 1):
        right = apply("GatherElements", gap, node, axis=1) > 0.0
        node = 2 * node + 1 + right.to(INT64)
    return flat(node - (partition.n_leaves - 1))


def _leaf_scores(leaf: Leaf, S: Value, training: Any) -> Value:
    W, b = leaf.weights
    if not len(leaf.rows):
        return repeated(b, S, S.dtype)
    inner = S.to(np.result_type(S.dtype, W.dtype))
    Z = fixed_rows(training[leaf.rows], inner)
    return (columns(leaf.kernel, inner, Z).k @ W + b).to(S.dtype)


# --- machines without targets of their own -------------------------------------------------------


def support_vector_scores(model: Any, X: Value) -> Value:
    """Return what pairs of classes, or a regression, make of kernel columns."""
    S = scaled(model.scaler_, X.to(FLOAT64))
    Z = fixed_rows(model.scaler_.transform(model.support_vectors_.astype(np.float64)), S)
    K = columns(model.kernel_, S, Z).k
    return K @ _dual_weights(model.dual_coef_, model.n_support_) + model.intercept_


def _dual_weights(dual: NDArray, n_support: NDArray) -> NDArray:
    """Return a column of weights for each pair of classes, from the layout of libsvm."""
    if len(dual) == 1:
        return dual.T
    ends = np.cumsum(n_support)
    of_class = [slice(e - n, e) for e, n in zip(ends, n_support, strict=True)]
    pairs = []
    for i, j in combinations(range(len(n_support)), 2):
        w = np.zeros(dual.shape[1])
        w[of_class[i]], w[of_class[j]] = dual[j - 1, of_class[i]], dual[i, of_class[j]]
        pairs.append(w)
    return np.stack(pairs, axis=1)


def detector_scores(model: Any, X: Value) -> Value:
    """Return minus the squared distances from the centre of the ball, less the offset."""
    ball, S = model.ball_, scaled(model.scaler_, X.to(FLOAT64))
    k = columns(model.kernel_, S, fixed_rows(ball.core.X, S))
    length = ball.rho - float(ball.alpha**2 @ ball.core.ridge)
    return k.k @ (2 * ball.alpha[:, None]) - k.k_xx - (length + model.offset_)
