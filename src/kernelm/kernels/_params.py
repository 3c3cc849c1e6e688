"""Parameters of frozen objects, by scikit-learn's protocol."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import fields
from typing import Any, Self

from kernelm import _checks


class Params:
    """``get_params`` and ``set_params`` for a frozen dataclass whose fields are its parameters.

    Names nest as in scikit-learn: ``left__scale`` is the ``scale`` of the field ``left``, and
    ``layers__0__degree`` the ``degree`` of the first entry of the tuple ``layers``.
    """

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name, with those of nested objects if ``deep``."""
        own = _own(self)
        if not deep:
            return own
        return own | {
            f"{name}__{inner}": value
            for name, part in own.items()
            for inner, value in _inner_params(part).items()
        }

    def with_params(self, **params: Any) -> Self:
        """Return a copy with some parameters (nested names allowed) replaced.

        Examples
        --------
        >>> from kernelm.kernels import Gaussian
        >>> (2.0 * Gaussian()).with_params(kernel__scale=3.0)
        2.0 * Gaussian(scale=3.0)
        """
        own, nested = _own(self), defaultdict(dict)
        for name, value in params.items():
            head, _, tail = name.partition("__")
            if head not in own:
                raise _checks.unknown_parameter(name, type(self).__name__, self.get_params())
            if tail:
                nested[head][tail] = value
            else:
                own[head] = value
        for head, changes in nested.items():
            own[head] = _with_inner(own[head], changes, f"{head} of {type(self).__name__}")
        return type(self)(**own)

    def set_params(self, **params: Any) -> Self:
        """Change parameters (nested names allowed) in place and return ``self``.

        This is the only door that changes a frozen object: scikit-learn's searches call it on
        their own clone and ignore what it returns. It changes this object alone: nested
        objects are replaced by changed copies. The hash changes too, so do not call it on an
        object that is a dictionary key; :meth:`with_params` is the version without side effects.
        """
        for name, value in _own(self.with_params(**params)).items():
            object.__setattr__(self, name, value)
        return self


def _own(part: Any) -> dict[str, Any]:
    return {f.name: getattr(part, f.name) for f in fields(part)}


def _inner_params(part: Any) -> dict[str, Any]:
    if isinstance(part, Params):
        return part.get_params()
    if isinstance(part, tuple) and any(isinstance(item, Params) for item in part):
        named = {str(i): item for i, item in enumerate(part)}
        return named | {
            f"{i}__{inner}": value
            for i, item in named.items()
            for inner, value in _inner_params(item).items()
        }
    return {}


def _with_inner(part: Any, changes: dict[str, Any], owner: str) -> Any:
    """Return ``part`` (an object with parameters, or a tuple of them) with ``changes`` made."""
    if isinstance(part, Params):
        return part.with_params(**changes)
    valid = _inner_params(part)
    items = list(part) if valid else []
    # Whole entries first, so that "0" and "0__degree" together act on the new entry.
    for name, value in sorted(changes.items()):
        if name not in valid:
            raise _checks.unknown_parameter(name, owner, valid)
        index, _, tail = name.partition("__")
        old = items[int(index)]
        items[int(index)] = _with_inner(old, {tail: value}, owner) if tail else value
    if not valid:
        raise _checks.unknown_parameter(next(iter(changes)), owner, valid)
    return tuple(items)
