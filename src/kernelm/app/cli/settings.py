"""Machines by name, and their parameters from ``name=value``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from kernelm.app.cli.conditions import value
from kernelm.app.cli.errors import Usage, among
from kernelm.app.machines import MACHINES, OURS, Machine, Shape
from kernelm.tasks import Estimator


def slug(machine: Machine) -> str:
    """Return how a machine is called on the command line.

    Examples
    --------
    >>> [slug(machine) for machine in fittable()][:3]
    ['elm', 'op-elm', 'boosted-elm']
    """
    return "-".join(re.findall(r"[a-z0-9]+", machine.name.lower()))


def fittable() -> list[Machine]:
    """Return the machines that learn from files and are stored in files."""
    ours = [m for m in MACHINES if m.family == OURS]
    return [m for m in ours if isinstance(m.make(Shape("classification", 1, 1)), Estimator)]


def machine(name: str, option: str, known: Sequence[Machine]) -> Machine:
    """Return a machine by name, or by the beginning of one if no other begins so."""
    names = {slug(m): m for m in known}
    wanted = name.strip().lower()
    starts = [n for n in names if n.startswith(wanted)] if wanted else []
    if wanted in names:
        return names[wanted]
    if len(starts) == 1:
        return names[starts[0]]
    if starts:
        raise Usage(f"{option} {name!r} could be {' or '.join(starts)}; give more of the name")
    raise among(option, name, names)


def made(chosen: Machine, shape: Shape, assignments: Iterable[str]) -> Any:
    """Return an unfitted model of a machine, with parameters as assigned."""
    reason = chosen.suits(shape)
    if reason:
        raise ValueError(f"--machine {slug(chosen)} is {reason}; choose another")
    model = chosen.make(shape)
    known = model.get_params(deep=False)
    for assignment in assignments:
        name, equals, text = assignment.partition("=")
        if not equals:
            raise Usage(f"--set {assignment!r} must be name=value, such as alpha=0.1")
        if name.strip() not in known:
            raise among(f"--set: parameter of {type(model).__name__}", name.strip(), known)
        model.set_params(**{name.strip(): value(text.strip())})
    _check(model, assignments)
    return model


def _check(model: Any, assignments: Iterable[str]) -> None:
    try:
        model._check_parameters()
    except (ValueError, TypeError) as error:
        raise Usage(f"--set {' --set '.join(assignments)}: {error}") from error
