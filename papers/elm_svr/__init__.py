"""Frénay and Verleysen, Parameter-insensitive kernel in extreme learning for non-linear SVR."""

from papers.elm_svr.claims import CLAIMS
from papers.elm_svr.figures import FIGURES
from papers.elm_svr.tables import TABLES
from papers.experiment import Paper

PAPER = Paper(
    key="elm_svr",
    title="ELM kernel for support vector regression",
    page="papers/elm_kernel.md",
    tables=TABLES,
    claims=CLAIMS,
    figures=FIGURES,
)
