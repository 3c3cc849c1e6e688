"""Kernel PCA: exact, from landmarks, from sources, beside scikit-learn's."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.decomposition import PCA
from sklearn.decomposition import KernelPCA as TheirKernelPCA
from sklearn.utils.estimator_checks import parametrize_with_checks

from catalog import KERNELS, SOURCES, rows_for
from kernelm import KernelPCA, config_context
from kernelm.kernels import ArcCosine, Gaussian, Linear


def cloud(n=80, D=5, seed=0, dtype=np.float64):
    rng = np.random.default_rng(seed)
    return (rng.standard_normal((n, D)) + 1).astype(dtype)


@parametrize_with_checks(
    [
        KernelPCA(),
        KernelPCA(2, kernel=ArcCosine([1, 0]), scale_inputs=True),
        KernelPCA(approximation="nystrom", n_landmarks=15),
        KernelPCA(3, approximation="nystrom", n_landmarks=15, landmarks="kmeans"),
    ]
)
def test_scikit_learn_estimator_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize(
    "kernel", [k for k in KERNELS if k.is_psd and not hasattr(k, "value")], ids=repr
)
def test_scores_are_those_of_scikit_learn(kernel):
    X, other = rows_for(kernel, n=40), rows_for(kernel, n=15, seed=1)
    theirs = TheirKernelPCA(3, kernel="precomputed").fit(kernel.gram(X))
    ours = KernelPCA(3, kernel=kernel).fit(X)
    n = ours.n_components_  # small kernels of few dimensions have fewer
    assert_allclose(ours.eigenvalues_, theirs.eigenvalues_[:n], rtol=1e-8)
    expected = theirs.transform(kernel.gram(other, X))[:, :n]
    gaps = np.diff(np.append(theirs.eigenvalues_, 0)) / theirs.eigenvalues_[0]
    clear = np.abs(gaps[:n]) > 1e-3  # equal eigenvalues share a space, not vectors
    scores = ours.transform(other)
    signs = np.sign(np.sum(scores * expected, axis=0))
    tolerance = 1e-6 * np.abs(expected).max()
    assert_allclose((scores * signs)[:, clear], expected[:, clear], atol=tolerance)


def test_the_linear_kernel_is_pca():
    X = cloud()
    ours, theirs = KernelPCA(kernel=Linear()).fit(X), PCA().fit(X)
    assert_allclose(ours.explained_variance_ * 80 / 79, theirs.explained_variance_)
    assert_allclose(ours.explained_variance_ratio_, theirs.explained_variance_ratio_)
    assert_allclose(np.abs(ours.transform(X)), np.abs(theirs.transform(X)), atol=1e-9)


@pytest.mark.parametrize("kernel", [Gaussian(2.0), ArcCosine([1]), Linear(offset=1.0)], ids=repr)
def test_all_rows_as_landmarks_are_the_exact_form(kernel):
    X, other = cloud(), cloud(seed=1)
    exact = KernelPCA(4, kernel=kernel, approximation="exact").fit(X)
    near = KernelPCA(4, kernel=kernel, approximation="nystrom", landmarks=X).fit(X)
    assert_allclose(near.eigenvalues_, exact.eigenvalues_, rtol=1e-9)
    assert_allclose(near.explained_variance_ratio_, exact.explained_variance_ratio_, rtol=1e-9)
    assert_allclose(np.abs(near.transform(other)), np.abs(exact.transform(other)), atol=1e-7)


@pytest.mark.parametrize("approximation", ["exact", "nystrom"])
def test_scores_of_training_rows_are_centred_uncorrelated_and_explain_what_they_say(approximation):
    X = cloud(200)
    pca = KernelPCA(
        kernel=Gaussian(3.0), approximation=approximation, n_landmarks=50, random_state=0
    )
    S = pca.fit_transform(X)
    assert_allclose(S.mean(axis=0), 0, atol=1e-9)
    assert_allclose(S.T @ S / 200, np.diag(pca.explained_variance_), atol=1e-9)
    assert np.all(np.diff(pca.eigenvalues_) <= 0)
    assert pca.explained_variance_ratio_.sum() <= 1 + 1e-9


def test_all_components_keep_all_distances():
    X, kernel = cloud(), Gaussian(2.0)
    S = KernelPCA(kernel=kernel).fit_transform(X)
    inside = np.square(S[:, None] - S[None]).sum(axis=2)
    assert_allclose(inside, 2 - 2 * kernel.gram(X), atol=1e-9)


def test_more_landmarks_come_closer():
    X = cloud(400, D=3)
    exact = KernelPCA(5, kernel=Gaussian(2.0)).fit(X).eigenvalues_
    errors = [
        np.abs(
            KernelPCA(
                5, kernel=Gaussian(2.0), approximation="nystrom", n_landmarks=m, random_state=0
            )
            .fit(X)
            .eigenvalues_
            - exact
        ).max()
        for m in (10, 40, 160)
    ]
    assert errors[0] > errors[1] > errors[2]
    assert errors[2] < 1e-4 * exact[0]


@pytest.mark.parametrize("approximation", ["exact", "nystrom"])
def test_each_row_alone_has_the_same_scores(approximation):
    X, other = cloud(300), cloud(40, seed=1)
    pca = KernelPCA(6, approximation=approximation, n_landmarks=60, random_state=0).fit(X)
    together = pca.transform(other)
    alone = np.vstack([pca.transform(row[None]) for row in other])
    assert_allclose(alone, together, atol=1e-9)


@pytest.mark.parametrize("offer", SOURCES.values(), ids=SOURCES)
def test_sources_give_the_components_of_arrays(offer, tmp_path):
    X = cloud(300)
    options = {"approximation": "nystrom", "n_landmarks": 40, "random_state": 0}
    whole = KernelPCA(5, **options).fit(X)
    source = offer(X, None, None, tmp_path)
    part = KernelPCA(5, **options).fit_source(source)
    assert_allclose(part.eigenvalues_, whole.eigenvalues_, rtol=1e-9)
    assert_allclose(part.transform(X), whole.transform(X), atol=1e-8)


def test_small_blocks_and_single_precision_agree():
    X = cloud(500)
    options = {"approximation": "nystrom", "n_landmarks": 40, "random_state": 0}
    whole = KernelPCA(5, **options).fit(X)
    with config_context(working_memory=1):
        small = KernelPCA(5, **options, n_jobs=2).fit(X)
        assert_allclose(small.transform(X), whole.transform(X), atol=1e-9)
    single = KernelPCA(5, **options).fit(X.astype(np.float32))
    assert_allclose(single.eigenvalues_, whole.eigenvalues_, rtol=1e-4)
    assert single.transform(X.astype(np.float32)).dtype == np.float32


def test_sparse_rows_and_names():
    X = cloud() * (np.random.default_rng(3).random((80, 5)) < 0.4)
    dense, rows = KernelPCA(3).fit(X), KernelPCA(3).fit(sparse.csr_array(X))
    assert_allclose(
        np.abs(rows.transform(sparse.csr_array(X))), np.abs(dense.transform(X)), atol=1e-9
    )
    assert list(dense.get_feature_names_out()) == ["kernelpca0", "kernelpca1", "kernelpca2"]


def test_taking_components_keeps_their_scores():
    X = cloud()
    pca = KernelPCA(5).fit(X)
    S = pca.transform(X)
    assert_allclose(pca.take(np.array([0, 3])).transform(X), S[:, [0, 3]])
    assert pca.n_components_ == 2


@pytest.mark.parametrize("approximation", ["exact", "nystrom"])
def test_rows_that_are_all_alike_have_no_components(approximation):
    pca = KernelPCA(approximation=approximation).fit(np.ones((10, 3)))
    assert pca.transform(np.ones((4, 3))).shape[0] == 4
    assert np.isfinite(pca.transform(np.ones((4, 3)))).all()


def test_what_cannot_be_used_is_said():
    X = cloud()
    with pytest.raises(ValueError, match="approximation must be one of"):
        KernelPCA(approximation="full").fit(X)
    with pytest.raises(ValueError, match="n_components"):
        KernelPCA(0).fit(X)
    with pytest.raises(ValueError, match="landmarks"):
        KernelPCA(landmarks="best").fit(X)
    with (
        config_context(working_memory=1),
        pytest.raises(MemoryError, match='use approximation="nystrom"'),
    ):
        KernelPCA(approximation="exact").fit(np.zeros((2000, 1)))
    source = SOURCES["one_pass"](X, None, None, None)
    with pytest.raises(ValueError, match="number of rows of this source is not known"):
        KernelPCA(approximation="exact").fit_source(source)
