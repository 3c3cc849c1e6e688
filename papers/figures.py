"""The pictures, drawn from what was computed; the door to matplotlib."""

from __future__ import annotations

from pathlib import Path

from papers import catalog
from papers.experiment import Paper

STYLE = {
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.25,
    "font.size": 9,
    "legend.frameon": False,
    "svg.hashsalt": "kernelm",
}


def draw(paper: Paper, results: Path, into: Path) -> list[Path]:
    """Draw every picture of a paper and return the files."""
    try:
        import matplotlib
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError("pictures need matplotlib: pip install kernelm[report]") from error
    known, files = catalog.results(paper.key, results), []
    into.mkdir(parents=True, exist_ok=True)
    for figure in paper.figures:
        with matplotlib.rc_context(STYLE):
            canvas = Figure(figsize=figure.size, layout="constrained")
            FigureCanvasAgg(canvas)
            figure.draw(known, canvas)
            path = into / f"{paper.key}_{figure.name}.png"
            canvas.savefig(path, dpi=110, metadata={"Software": None})
        files.append(path)
    return files
