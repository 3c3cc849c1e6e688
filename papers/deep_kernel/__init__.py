"""Afzal A. L., Deep learning in kernel machines, 2018: chapters 3, 4 and 5."""

from papers.deep_kernel import chapter3, chapter3_growth, chapter4, chapter5, claims, pictures
from papers.experiment import Paper

PAPER = Paper(
    key="deep_kernel",
    title="Deep learning in kernel machines",
    page="papers/deep_kernels.md",
    tables=(*chapter3.TABLES, *chapter3_growth.TABLES, *chapter4.TABLES, *chapter5.TABLES),
    claims=(*claims.CLAIMS, *chapter4.CLAIMS),
    figures=(*chapter3_growth.FIGURES, *chapter4.FIGURES, *pictures.FIGURES),
)
