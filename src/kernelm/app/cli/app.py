"""All commands, and how any of them ends: one line for an error, and an exit code."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import kernelm
from kernelm.app.cli import compare, console, errors, fit, inspect, plan, predict, reproduce
from kernelm.app.cli.options import Group, typer

__all__ = ["app"]


class Commands(Group):
    """Commands whose errors are one line."""

    def main(self, args: Any = None, prog_name: Any = None, *rest: Any, **options: Any) -> Any:
        """Run a command; leaves the process."""
        args = list(sys.argv[1:] if args is None else args) or ["--help"]
        options["standalone_mode"] = False
        with errors.as_one_line(debug="--debug" in args):
            code = super().main(args, prog_name or "kernelm", *rest, **options)
            sys.exit(code if isinstance(code, int) else 0)

    def invoke(self, ctx: Any) -> Any:
        """Run the command of a context; Ctrl-C is said in a line."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            console.warn("interrupted; no file was written")
            return errors.INTERRUPTED


app = typer.Typer(
    name="kernelm",
    cls=Commands,
    help="Extreme learning machines and kernel machines for tables in files.",
    epilog="Begin with: kernelm compare data.csv --target COLUMN",
    add_completion=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)

for module in (fit, predict, compare, inspect, plan, reproduce):
    name = module.__name__.rpartition(".")[2]
    app.command(name, epilog=module.PYTHON)(getattr(module, name))


def _show_version(wanted: bool) -> None:
    if wanted:
        console.say(f"kernelm {kernelm.__version__}")
        raise typer.Exit


@app.callback()
def _commands(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    pass
