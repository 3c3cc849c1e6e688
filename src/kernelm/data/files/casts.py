"""Columns of Arrow tables: their types, and how they become arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelm.data.files.arrow import pa, pc
from kernelm.data.frames import FrameColumns, Levels

CANNOT_CAST = (pa.ArrowInvalid, pa.ArrowNotImplementedError)

# --- types ---------------------------------------------------------------------------------------


def common(kinds: Sequence[Any]) -> Any:
    """Return a type that holds what all of these do, else the first."""
    plain = dict.fromkeys(map(_plain, kinds))
    if any(map(is_number, plain)):  # beside numbers, true is one
        plain = [pa.uint8() if pa.types.is_boolean(kind) else kind for kind in plain]
    schemas = [pa.schema([("", kind)]) for kind in plain]
    try:
        kind = pa.unify_schemas(schemas, promote_options="permissive").field(0).type
    except pa.ArrowTypeError:
        kind = schemas[0].field(0).type
    return pa.float64() if pa.types.is_null(kind) else kind  # entries must come yet


def _plain(kind: Any) -> Any:
    """Return the type of the entries; numbers that NumPy does not have become floats."""
    if pa.types.is_dictionary(kind):
        return _plain(kind.value_type)
    if is_text(kind):
        return pa.string()
    return pa.float64() if pa.types.is_decimal(kind) else kind


def is_text(kind: Any) -> bool:
    """Whether a type is one of Arrow's several for strings."""
    is_view = getattr(pa.types, "is_string_view", lambda kind: False)
    return pa.types.is_string(kind) or pa.types.is_large_string(kind) or is_view(kind)


def is_name(kind: Any) -> bool:
    """Whether entries are names: text, or of a few values that were declared as such."""
    return is_text(kind) or pa.types.is_dictionary(kind)


def is_number(kind: Any) -> bool:
    """Whether NumPy has the type, too, and it is not boolean."""
    return pa.types.is_integer(kind) or pa.types.is_floating(kind)


def fits_float32(kind: Any) -> bool:
    """Whether float32 holds every number of a type."""
    small = (pa.types.is_float16, pa.types.is_float32, pa.types.is_boolean)
    return any(test(kind) for test in small) or (pa.types.is_integer(kind) and kind.bit_width <= 16)


# --- entries -------------------------------------------------------------------------------------


def cast(column: Any, kind: Any) -> Any:
    """Return a column as another type, exactly but for numbers that become floats."""
    if column.type == kind:
        return column
    if not len(column):
        return pa.chunked_array([], kind)
    if pa.types.is_dictionary(column.type):
        return cast(column.cast(column.type.value_type), kind)
    if pa.types.is_binary(column.type):  # text that did not fit its type at the first reading
        text = column.cast(pa.string())
        trimmed = text if is_text(kind) else pc.call_function("utf8_trim_whitespace", [text])
        return cast(trimmed, kind)
    return column.cast(kind, safe=not pa.types.is_floating(kind))


def failing(column: Any, kind: Any) -> NDArray:
    """Return which entries cannot be brought to a type, by halving."""
    try:
        cast(column, kind)
    except CANNOT_CAST as error:
        if len(column) == 1 or isinstance(error, pa.ArrowNotImplementedError):
            return np.ones(len(column), dtype=bool)
        half = len(column) // 2
        parts = (column.slice(0, half), column.slice(half))
        return np.concatenate([failing(part, kind) for part in parts])
    return np.zeros(len(column), dtype=bool)


def gaps(column: Any) -> NDArray | None:
    """Return which entries are missing, NaN or infinite, or None if none is."""
    if pa.types.is_floating(column.type):
        bad = ~np.isfinite(column.to_numpy())
    elif column.null_count:
        bad = column.is_null().to_numpy()
    else:
        return None
    return bad if bad.any() else None


def array(column: Any) -> NDArray:
    """Return a column of labels or numbers without gaps; names as strings of NumPy."""
    if not is_text(column.type):
        return column.to_numpy()
    codes = column.combine_chunks().dictionary_encode()
    return codes.dictionary.to_numpy(zero_copy_only=False).astype(str)[codes.indices.to_numpy()]


def coded(column: Any, name: str, levels: Levels) -> NDArray:
    """Return a column of names as zeros and ones: each name is encoded once."""
    codes = column.combine_chunks().dictionary_encode(null_encoding="encode")
    frame = codes.dictionary.to_pandas().to_frame(name)
    return FrameColumns((name,), (levels,)).encode(frame)[codes.indices.to_numpy()]


def filled(column: Any, fill: float) -> NDArray:
    """Return a column of numbers without its gaps, and one that says where they were."""
    values = column.to_numpy().copy()
    gap = np.isnan(values)
    values[gap] = fill
    return np.stack([values, gap], axis=1)
