"""What a comparison found: results, sorted and as JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, final

import numpy as np

from kernelm.app.insight import Insight
from kernelm.app.machines import BASELINE, OURS
from kernelm.app.measuring import Measurement
from kernelm.app.problem import DataSummary


@final
@dataclass(frozen=True)
class Summary:
    """Mean and standard deviation over splits (None for a single one)."""

    mean: float
    std: float | None

    @classmethod
    def of(cls, values: Iterable[float | None]) -> Summary | None:
        """Summarise the values that are there."""
        known = [v for v in values if v is not None]
        if not known:
            return None
        return cls(float(np.mean(known)), float(np.std(known, ddof=1)) if len(known) > 1 else None)


@final
@dataclass(frozen=True)
class Result:
    """A machine, how it was made, and what was measured, or why nothing was."""

    name: str
    family: str
    code: str  #: the estimator in Python
    parts: tuple[Measurement, ...] = ()
    reason: str = ""  #: why there is nothing, or less than was asked for

    @property
    def is_ours(self) -> bool:
        """Whether the machine is one of this library."""
        return self.family == OURS

    @property
    def score(self) -> Summary | None:
        """Accuracy or R²."""
        return Summary.of(p.score for p in self.parts)

    @property
    def fit_seconds(self) -> Summary | None:
        """Seconds of a fit."""
        return Summary.of(p.fit_seconds for p in self.parts)

    def row(self) -> dict[str, Any]:
        """Return means and standard deviations under plain names."""
        columns: dict[str, Summary | None] = {
            "score": self.score,
            "fit_seconds": self.fit_seconds,
            "predict_seconds": Summary.of(p.predict_seconds for p in self.parts),
            "row_seconds": Summary.of(p.row_seconds for p in self.parts),
            "model_bytes": Summary.of(p.model_bytes for p in self.parts),
        }
        for name in dict.fromkeys(name for p in self.parts for name in p.errors):
            columns[name] = Summary.of(p.errors.get(name) for p in self.parts)
        row: dict[str, Any] = {"name": self.name, "family": self.family, "splits": len(self.parts)}
        for name, summary in columns.items():
            row[name] = None if summary is None else summary.mean
            row[f"{name}_std"] = None if summary is None else summary.std
        # Memory that an earlier fit left behind hides later growth: the largest is the truest.
        peaks = [p.peak_bytes for p in self.parts if p.peak_bytes is not None]
        row["peak_bytes"] = max(peaks, default=None)
        return row | {"code": self.code, "reason": self.reason}


@final
@dataclass(frozen=True)
class Comparison:
    """Machines beside each other on the same splits of one table.

    Attributes
    ----------
    task, task_reason, score_name : str
        "classification" or "regression", why, and "accuracy" or "R²".
    results : tuple of Result
        In the order of the table of machines; skipped and failed ones have a reason.
    data : DataSummary
    settings, versions, computer : dict
        What was asked for, and where it ran.
    notes : tuple of str
        What was done to the rows.
    insight : Insight
        What fitted models say about the data, for charts.
    seconds : float
        Time that everything took.
    interrupted : bool
        Whether a person ended it before time.
    """

    task: str
    task_reason: str
    score_name: str
    results: tuple[Result, ...]
    data: DataSummary
    settings: dict[str, Any]
    versions: dict[str, str]
    computer: dict[str, str]
    notes: tuple[str, ...]
    insight: Insight
    seconds: float
    interrupted: bool = False

    @property
    def ranking(self) -> list[Result]:
        """Results with a score, the best first; of equals, the one that fits faster."""

        def place(result: Result) -> tuple[float, float]:
            level = self.level(result)
            return (-level if math.isfinite(level) else math.inf), _mean(result.fit_seconds)

        return sorted((r for r in self.results if r.parts), key=place)

    def level(self, result: Result) -> float:
        """Return the mean score, corrected for how hard the splits were that a machine has seen.

        Slow machines see fewer splits than fast ones: an easy first split would flatter them. The
        machines with most splits show how hard each of them is.
        """
        most = max((len(r.parts) for r in self.results), default=0)
        judges = [r for r in self.results if len(r.parts) == most and r.family != BASELINE]
        if len(result.parts) == most or not judges:
            return _mean(result.score)
        ease = np.mean([[p.score for p in r.parts] for r in judges], axis=0)
        seen = ease[: len(result.parts)].mean()
        return _mean(result.score) - float(seen - ease.mean())

    @property
    def best(self) -> Result | None:
        """The machine with the best mean score."""
        return next(iter(self.ranking), None)

    @property
    def best_of_ours(self) -> Result | None:
        """The best machine of this library."""
        return next((r for r in self.ranking if r.is_ours), None)

    @property
    def skipped(self) -> list[Result]:
        """Machines without a measurement; each has a reason."""
        return [r for r in self.results if not r.parts]

    @property
    def front(self) -> list[Result]:
        """Machines that no other beats in both score and fit time, the fastest first."""
        front: list[Result] = []
        for result in sorted(self.ranking, key=lambda r: _mean(r.fit_seconds)):
            if not front or self.level(result) > self.level(front[-1]):
                front.append(result)
        return front

    def table(self) -> list[dict[str, Any]]:
        """Return a dict for each machine with a score, the best first."""
        return [result.row() for result in self.ranking]

    def to_json(self, indent: int | None = 2) -> str:
        """Return everything as JSON; numbers that are not finite become null."""
        found = asdict(self) | {"table": self.table(), "front": [r.name for r in self.front]}
        return json.dumps(plain(found), indent=indent, ensure_ascii=False, allow_nan=False)


def _mean(summary: Summary | None) -> float:
    return math.nan if summary is None else summary.mean


def plain(value: Any) -> Any:
    """Return a value that JSON knows."""
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if isinstance(value, int | str | None) else str(value)
