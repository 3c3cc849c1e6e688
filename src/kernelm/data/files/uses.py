"""Which columns of tables are read, and what for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, Self

from kernelm.data.files import _errors
from kernelm.data.files.arrow import TableFile, pc, pq

_INDEX = "__index_level_"  #: as pandas names the index of a frame in a file


class Uses(NamedTuple):
    """Which columns are read, and what for."""

    features: tuple[str, ...]
    target: str | tuple[str, ...] | None
    weight: str | None
    where: Any  #: an Arrow expression, or None

    @classmethod
    def of(cls, file: TableFile, target: Any, features: Any, weight: Any, where: Any) -> Self:
        """Return the choice; by default every column that has no other use is a feature."""
        taken = {"target": names_of(target, "target"), "weight": names_of(weight, "weight")}
        if features is None:
            others = [name for names in taken.values() for name in names]
            features = [name for name in file.schema.names if name not in others]
            features = [name for name in features if not name.startswith(_INDEX)]
        chosen = names_of(features, "features")
        if not chosen:
            raise _errors.bad_names("features", features)
        _apart({"features": chosen, **taken})
        several = target is not None and not isinstance(target, str)
        return cls(chosen, taken["target"] if several else target, weight, _expression(where))

    @property
    def targets(self) -> tuple[str, ...]:
        """The columns of y."""
        return names_of(self.target, "target")

    @property
    def argument(self) -> dict[str, str]:
        """The argument that asks for each column."""
        return (
            dict.fromkeys(self.features, "features")
            | dict.fromkeys(self.targets, "target")
            | dict.fromkeys(names_of(self.weight, "weight"), "weight")
        )

    def filtered(self, columns: Iterable[str]) -> list[str]:
        """Return the columns that the filter may need: those that its text names."""
        text = "" if self.where is None else str(self.where)
        return [name for name in columns if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text)]


def _apart(groups: dict[str, Sequence[str]]) -> None:
    """Refuse a column with two uses."""
    seen: dict[str, str] = {}
    for argument, names in groups.items():
        for name in names:
            if name in seen:
                raise _errors.two_uses(name, seen[name], argument)
            seen[name] = argument


def names_of(given: Any, argument: str) -> tuple[str, ...]:
    """Return one name, or several, or none, as a tuple."""
    names = () if given is None else (given,) if isinstance(given, str) else given
    try:
        names = tuple(names)
    except TypeError:
        raise _errors.bad_names(argument, given) from None
    if not all(isinstance(name, str) for name in names):
        raise _errors.bad_names(argument, given)
    return names


def _expression(where: Any) -> Any:
    if where is None or isinstance(where, pc.Expression):
        return where
    try:
        return pq.filters_to_expression(where)
    except (TypeError, ValueError, KeyError, IndexError, AttributeError) as error:
        raise _errors.bad_filter(where, error) from error
