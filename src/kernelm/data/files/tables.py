"""Tables in files as rows of numbers: of frozen types and levels, with some rows left out.

Types and levels are frozen before the first row is read, so that every piece of every file gives
the same columns. A piece becomes rows in four steps: read, filter, bring to the frozen types, and
refuse gaps.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self, final

import numpy as np
from numpy.typing import NDArray

from kernelm import _checks
from kernelm.data.chunks import Chunk, FileSource
from kernelm.data.files import _errors
from kernelm.data.files.arrow import Piece, TableFile, Types, acero, pa
from kernelm.data.files.casts import (
    CANNOT_CAST,
    array,
    cast,
    coded,
    common,
    failing,
    filled,
    fits_float32,
    gaps,
    is_name,
    is_number,
    is_text,
)
from kernelm.data.files.uses import Uses
from kernelm.data.frames import FrameColumns, Levels
from kernelm.data.reduce import effective_jobs, pooled
from kernelm.data.source import Rows

SAMPLE = 100_000  #: rows that show the levels of names
_PARTS = 8  #: pieces that these rows come from, if one has enough

_ROW = "\0row"  #: the column that says where in its file a row is


def open_tables(
    files: Sequence[TableFile],
    *,
    target: str | Sequence[str] | None = None,
    features: Sequence[str] | None = None,
    weight: str | None = None,
    where: Any = None,
    on_error: str = "raise",
    missing: str = "raise",
    dtype: Any = None,
    columns: FrameColumns | None = None,
) -> FileSource:
    """Return the rows of tables; :func:`kernelm.data.scan` says what the arguments mean.

    With ``columns``, names become numbers as those of the rows that a model was fitted to.
    """
    for file in files:
        repeated = [name for name, n in Counter(file.schema.names).items() if n > 1]
        if repeated:
            raise _errors.repeated_names(file.path, repeated)
    uses = Uses.of(files[0], target, features, weight, where)
    reader = Reader.of(files, uses, skip=on_error == "skip", dtype=dtype)
    reader = replace(reader, fills=dict.fromkeys(reader.numbers, 0.0) if missing == "fill" else {})
    pieces = [piece for found in _each(lambda file: file.pieces(), files) for piece in found]
    if features is not None and columns is not None:
        reader = reader.encoding(columns)
    else:
        reader = reader.frozen([piece for piece in pieces if piece.n_rows])

    def reopen(names: tuple[str, ...], columns: FrameColumns | None) -> FileSource:
        return open_tables(
            files,
            target=None,
            features=names,
            where=where,
            on_error=on_error,
            missing=missing,
            dtype=dtype,
            columns=columns or FrameColumns(names, (None,) * len(names)),
        )

    return replace(reader.source(pieces, files), reopen=reopen)


@final
@dataclass(frozen=True, eq=False)
class Reader:
    """What turns any piece of the files into rows."""

    uses: Uses
    types: Types  #: of every column that is read
    filtered: Types  #: of those that the filter needs, when it needs them
    levels: dict[str, Levels]  #: of the features that hold names
    dtype: np.dtype
    skip: bool
    fills: dict[str, float] = field(default_factory=dict)  #: what stands for missing numbers

    @classmethod
    def of(cls, files: Sequence[TableFile], uses: Uses, *, skip: bool, dtype: Any) -> Self:
        """Freeze the types of the columns on what all files say about them."""
        filtered = uses.filtered(files[0].schema.names)
        kinds = {name: _kinds(files, name, uses) for name in (*uses.argument, *filtered)}
        types = {name: common(found) for name, found in kinds.items()}
        _check_types(files[0], uses, types)
        names = {n for n in uses.features if is_text(types[n]) or is_name(kinds[n][0])}
        numbers = [name for name in uses.features if name not in names]
        if dtype is None:
            small = all(fits_float32(kind) for name in numbers for kind in kinds[name])
            dtype = np.float32 if small and numbers else np.float64
        floats = [name for name in numbers if not _is_bool(types[name])]
        wanted = types | dict.fromkeys(floats, pa.from_numpy_dtype(dtype))
        if uses.weight is not None:
            wanted[uses.weight] = pa.float64()
        # Of booleans only the rows tell whether a gap makes them names.
        levels: dict[str, Levels] = {name: () for name in uses.features if name not in floats}
        needed = {name: types[name] for name in filtered}
        return cls(uses, wanted, needed, levels, np.dtype(dtype), skip)

    def frozen(self, pieces: Sequence[Piece]) -> Self:
        """Freeze levels of names and medians of numbers with gaps on a sample of the rows."""
        looked_at = [*self.levels, *self.fills]
        if not looked_at or not pieces:
            return self
        frame = self._sample(pieces, looked_at).to_pandas()
        names = [name for name in self.levels if not _is_bool(self.types[name])]
        frame = frame.astype(dict.fromkeys(names, "category"))
        columns = FrameColumns.of(frame) or FrameColumns((), ())
        levels = dict(zip(frame.columns, columns.levels, strict=False))
        fills = dict(zip(frame.columns, columns.fills, strict=False))
        return replace(
            self,
            levels={name: known for name, known in levels.items() if known is not None},
            fills={name: fill for name, fill in fills.items() if fill is not None},
        )

    def encoding(self, columns: FrameColumns) -> Self:
        """Take over which columns hold names, and their levels."""
        found = zip(columns.names_in, columns.levels, strict=True)
        levels = {name: known for name, known in found if known is not None}
        numbers = dict.fromkeys(columns.names_in, pa.from_numpy_dtype(self.dtype))
        kinds = {name: _kind_of(known, self.types[name]) for name, known in levels.items()}
        found = zip(columns.names_in, columns.fills, strict=False)
        fills = {name: fill for name, fill in found if fill is not None}
        return replace(self, types=self.types | numbers | kinds, levels=levels, fills=fills)

    def source(self, pieces: Sequence[Piece], files: Sequence[TableFile]) -> FileSource:
        """Return the rows of all pieces, after a pass that counts them if some are left out."""
        counts = [(piece.n_rows, 0) for piece in pieces]
        if self.skip or self.uses.where is not None:
            counts = _each(self._count, pieces)
        chunks = [
            Chunk(n, lambda piece=piece, n=n: self.rows(piece, n))
            for piece, (n, _) in zip(pieces, counts, strict=True)
            if n
        ]
        n_skipped = sum(skipped for _, skipped in counts)
        if not chunks:
            why = "no row is left" if any(p.n_rows for p in pieces) else "there are no rows"
            more = f"; {n_skipped} were damaged or had gaps" if n_skipped else ""
            raise _errors.no_rows([file.path for file in files], why + more)
        columns = self._columns
        n_features = len(columns.names if columns else self.uses.features)
        return FileSource(chunks, n_features, self.dtype, self.uses.features, columns, n_skipped)

    def rows(self, piece: Piece, n_rows: int) -> Rows:
        """Return the rows of a piece that are not left out; so many were counted."""
        table, _ = self._table(piece, self.types)
        if table.num_rows != n_rows:
            raise _errors.changed(piece.path, n_rows, table.num_rows)
        uses = self.uses
        y = None
        if uses.target is not None:
            ys = [array(table[name]) for name in uses.targets]
            y = ys[0] if isinstance(uses.target, str) else np.stack(ys, axis=1)
        weight = None if uses.weight is None else table[uses.weight].to_numpy()
        return Rows(self._matrix(table), y, weight, 0)

    def _matrix(self, table: Any) -> NDArray:
        columns = self._columns
        width = len(columns.names if columns else self.uses.features)
        X = np.empty((table.num_rows, width), self.dtype)
        start = 0
        for name in self.uses.features:
            if name in self.levels:
                part = coded(table[name], name, self.levels[name])
            elif name in self.fills:
                part = filled(table[name], self.fills[name])
            else:
                part = table[name].to_numpy()[:, None]
            X[:, start : start + part.shape[1]] = part
            start += part.shape[1]
        return X

    @property
    def _columns(self) -> FrameColumns | None:
        names = self.uses.features
        if not self.levels and not self.fills:
            return None
        fills = tuple(map(self.fills.get, names)) if self.fills else ()
        return FrameColumns(names, tuple(map(self.levels.get, names)), fills)

    @property
    def numbers(self) -> list[str]:
        """The features that hold numbers and no names."""
        return [name for name in self.uses.features if name not in self.levels]

    # --- which rows ------------------------------------------------------------------------------

    def _count(self, piece: Piece) -> tuple[int, int]:
        """Return how many rows remain, and how many were left out for a fault."""
        # Without skipping only the filter decides: its columns are enough.
        table, skipped = self._table(piece, self.types if self.skip else {})
        return table.num_rows, skipped

    def _sample(self, pieces: Sequence[Piece], names: Sequence[str]) -> Any:
        """Return columns of evenly spread rows of the first piece and of others."""
        total = sum(piece.n_rows for piece in pieces)
        share = SAMPLE if total <= SAMPLE else SAMPLE // min(_PARTS, len(pieces))
        others = np.random.default_rng(0).permutation(np.arange(1, len(pieces)))
        found, n_rows = [], 0
        for k in (0, *others):
            table, _ = self._table(pieces[k], {name: self.types[name] for name in names})
            at = np.linspace(0, table.num_rows - 1, min(share, table.num_rows)).astype(np.int64)
            found.append(table.select(list(names)).take(pa.array(at)))
            n_rows += len(at)
            if n_rows >= SAMPLE:
                break
        return pa.concat_tables(found)

    def _table(self, piece: Piece, types: Types) -> tuple[Any, int]:
        """Return columns of the rows that remain, and how many rows had a fault."""
        table = piece.read((types | self.filtered) or self.types)
        skipped = piece.n_rows - table.num_rows
        positions = pa.array(np.arange(piece.first, piece.first + table.num_rows))
        table = table.append_column(_ROW, positions)
        if self.uses.where is not None:
            table, n = self._typed(piece, table, self.filtered)
            table, skipped = _filter(table, self.uses.where), skipped + n
        table, n_typed = self._typed(piece, table, types)
        table, n_gaps = self._whole(piece, table, [n for n in types if n not in self._may_miss])
        return table, skipped + n_typed + n_gaps

    @property
    def _may_miss(self) -> set[str]:
        """Columns where a gap is a level, and those that only the filter reads."""
        return set(self.levels) | set(self.fills) | (set(self.types) - set(self.uses.argument))

    def _typed(self, piece: Piece, table: Any, types: Types) -> tuple[Any, int]:
        """Bring columns to their types; rows where that fails are faults."""

        def entry(name: str, k: int, row: int) -> ValueError:
            value = table[name][k].as_py()
            return _errors.bad_entry(piece.path, piece.part, row, name, value, types[name])

        bad = {}
        for name, kind in types.items():
            try:
                at = table.schema.get_field_index(name)
                table = table.set_column(at, name, cast(table[name], kind))
            except CANNOT_CAST:
                bad[name] = failing(table[name], kind)
        if not bad:
            return table, 0
        table, n_bad = self._without(table, bad, entry)
        return self._typed(piece, table, types)[0], n_bad

    def _whole(self, piece: Piece, table: Any, names: Iterable[str]) -> tuple[Any, int]:
        """Refuse rows with gaps."""

        def gap(name: str, k: int, row: int) -> ValueError:
            return _errors.gap(piece.path, piece.part, row, name)

        return self._without(table, {name: gaps(table[name]) for name in names}, gap)

    def _without(
        self,
        table: Any,
        faults: dict[str, NDArray | None],
        error: Callable[[str, int, int], ValueError],
    ) -> tuple[Any, int]:
        """Leave rows out, or raise for the first of them."""
        masks = {name: mask for name, mask in faults.items() if mask is not None}
        if not masks:
            return table, 0
        if not self.skip:
            k, name = min((int(np.argmax(mask)), name) for name, mask in masks.items())
            raise error(name, k, table[_ROW][k].as_py())
        bad = np.logical_or.reduce(list(masks.values()))
        return table.filter(pa.array(~bad)), int(bad.sum())


def _kinds(files: Sequence[TableFile], name: str, uses: Uses) -> list[Any]:
    """Return the types of a column in all files, which must have it."""
    for file in files:
        if name not in file.schema.names:
            argument = uses.argument.get(name, "where")
            raise _errors.no_column(file.path, argument, name, file.schema.names)
    return [file.schema.field(name).type for file in files]


def _check_types(file: TableFile, uses: Uses, types: Types) -> None:
    """Refuse columns of neither numbers nor names; weights must be numbers."""
    for name in uses.argument:
        _checks.not_a_date(pa.types.is_temporal(types[name]), name, types[name])
        known = (is_number,) if name == uses.weight else (is_number, is_text, _is_bool)
        if not any(test(types[name]) for test in known):
            raise _errors.bad_type(file.path, name, types[name])


def _kind_of(levels: Levels, kind: Any) -> Any:
    """Return the type in which entries can equal the levels."""
    return pa.string() if any(isinstance(level, str) for level in levels) else kind


def _is_bool(kind: Any) -> bool:
    return pa.types.is_boolean(kind)


def _filter(table: Any, where: Any) -> Any:
    """Return the rows that an expression is true for, in their order."""
    steps = [
        acero.Declaration("table_source", acero.TableSourceNodeOptions(table)),
        acero.Declaration("filter", acero.FilterNodeOptions(where)),
    ]
    try:
        return acero.Declaration.from_sequence(steps).to_table(use_threads=False)
    except pa.ArrowException as error:
        raise _errors.bad_filter(where, error) from error


def _each(fn: Callable[[Any], Any], items: Sequence[Any]) -> list[Any]:
    """Return the values of a function, found by all cores."""
    return list(pooled(fn, iter(items), effective_jobs(None)))
