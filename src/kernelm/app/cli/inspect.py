"""``kernelm inspect``: what is in a model file."""

from __future__ import annotations

from typing import Annotated

from kernelm.app.cli import console
from kernelm.app.cli.about import about, importances, shown
from kernelm.app.cli.options import Debug, Json, typer
from kernelm.store import header, load

__all__ = ["PYTHON", "inspect"]

PYTHON = """In Python:

\b
    import kernelm
    kernelm.store.header("model.kelm")     # without building the model
    model = kernelm.load("model.kelm")
    model.kernel_, model.alpha_, model.loo_score_, model.feature_importances_
"""


def inspect(
    model: Annotated[
        str,
        typer.Argument(help="A file that kernelm fit wrote.", metavar="MODEL", show_default=False),
    ],
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Show what a model has chosen, how good it is, and what it learned from."""
    top = header(model)
    fitted = load(model)
    found = {"file": model, "bytes": top["bytes"], "format": top["format"]} | about(fitted)
    shares = importances(fitted)
    if json:
        more = {name: top[name] for name in ("params", "versions")}
        console.document(found | {"importances": shares} | more)
        return
    versions = [f"{name} {version}" for name, version in top["versions"].items()]
    console.pairs(shown(found | {"written by": versions}))
    if shares:
        console.table(
            ["most important inputs", "share"],
            ([name, f"{100 * share:.1f} %"] for name, share in shares.items()),
        )
