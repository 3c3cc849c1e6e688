"""Core vector machines are scikit-learn citizens."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from kernelm import CoreVectorClassifier, CoreVectorDetector, CoreVectorRegressor
from kernelm.kernels import ArcCosine


@parametrize_with_checks(
    [
        CoreVectorClassifier(),
        CoreVectorClassifier("gaussian", C=10, method="bvm", eps=1e-4),
        CoreVectorClassifier(ArcCosine([1]), multiclass="vector"),
        CoreVectorRegressor(),
        CoreVectorDetector(),
        CoreVectorDetector("laplacian", contamination=0.1),
    ]
)
def test_scikit_learn_estimator_checks(estimator, check):
    check(estimator)
