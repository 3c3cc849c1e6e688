"""Approximate kernel ELM (Iosifidis, Tefas and Pitas): tables 1 to 4."""

from papers.akelm.accuracy import TABLE1, TABLE2
from papers.akelm.claims import CLAIMS
from papers.akelm.costs import TABLE3, TABLE4
from papers.akelm.figures import FIGURES
from papers.experiment import Paper

PAPER = Paper(
    key="akelm",
    title="Approximate kernel ELM (AKELM)",
    page="papers/akelm.md",
    tables=(TABLE1, TABLE2, TABLE3, TABLE4),
    claims=CLAIMS,
    figures=FIGURES,
)
