"""Compiled parser of LIBSVM text; imported when first needed: Numba is slow to."""

from __future__ import annotations

from enum import IntEnum
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numba import njit


class Fault(IntEnum):
    """What is wrong with a row."""

    NONE = 0
    LABEL = 1
    SEVERAL_LABELS = 2
    ENTRY = 3
    VALUE = 4
    INDEX = 5
    REPEATED = 6


class Limits(NamedTuple):
    """What the entries of a row may be."""

    low: int  #: smallest index
    high: int  #: largest index
    value: float  #: largest size of a value

    @property
    def n_columns(self) -> int:
        """Number of indices."""
        return self.high - self.low + 1


class Store(NamedTuple):
    """Rows as the arrays of a CSR matrix."""

    labels: Any
    starts: Any  #: of each row among the values, and the end of the last
    columns: Any  #: indices as they are in the text
    values: Any
    hard: Any  #: (slot, begin, end) of numbers that are left to ``float``; ~row is a label's slot


class Parsed(NamedTuple):
    """The sound rows of a text, and the first of the others."""

    rows: Store
    n_lines: int
    n_faults: int  #: rows left out
    fault: int
    fault_line: int  #: counted from 0
    fault_at: int  #: where in the text


_TAB, _NEWLINE, _RETURN, _SPACE, _HASH = b"\t\n\r #"
_PLUS, _MINUS, _POINT, _COMMA, _COLON, _ZERO, _NINE, _E = b"+-.,:09e"
_QUERY = tuple(b"qid:")

LARGEST = 1e308  #: a little below the largest float, so that rounding cannot give infinity
_FULL = 10**17  #: one digit more, and int64 still holds it
MOST_COLUMNS = _FULL - 1
_REACH = 250  #: of the powers of ten that leave room for the digits below a float's
_POWERS = [Fraction(10) ** k for k in range(-_REACH, _REACH + 1)]
_TENS = np.array([float(power) for power in _POWERS])
_BELOW = np.array([float(power - Fraction(float(power))) for power in _POWERS])


@njit(cache=True, nogil=True)
def parse(text, limits):
    """Return the rows of a text whose last byte is a newline."""
    out = _room(len(text))
    n_rows, n_hard, n_lines, n_faults, at = 0, 0, 0, 0, 0
    fault, fault_line, fault_at = Fault.NONE, 0, 0
    while at < len(text):
        at = _skip_spaces(text, at)
        if not _ends_row(text[at]):
            n_values, found, wrong, at = _row(text, at, limits, out, n_rows, n_hard)
            if wrong == Fault.NONE:
                n_rows, n_hard = n_rows + 1, found
                out.starts[n_rows] = n_values
            else:
                if n_faults == 0:
                    fault, fault_line, fault_at = wrong, n_lines, at
                n_faults += 1
        while text[at] != _NEWLINE:
            at += 1
        at += 1
        n_lines += 1
    return Parsed(_used(out, n_rows, n_hard), n_lines, n_faults, fault, fault_line, fault_at)


@njit(cache=True, nogil=True)
def _room(n):
    """Return room for the rows of n bytes: memory that is never touched costs nothing."""
    n_rows, n_values, n_hard = n // 2 + 1, n // 4 + 1, n // 5 + 1  # as in "1\n", "1:1 ", "1e-9 "
    starts = np.empty(n_rows + 1, np.int64)
    starts[0] = 0
    columns, values = np.empty(n_values, np.int64), np.empty(n_values)
    return Store(np.empty(n_rows), starts, columns, values, np.empty((n_hard, 3), np.int64))


@njit(cache=True, nogil=True)
def _used(out, n_rows, n_hard):
    end = out.starts[n_rows]
    starts = out.starts[: n_rows + 1]
    return Store(
        out.labels[:n_rows], starts, out.columns[:end], out.values[:end], out.hard[:n_hard]
    )


@njit(cache=True, nogil=True)
def _row(text, begin, limits, out, row, n_hard):
    """Return the ends of the row's values and hard numbers, its fault, and where that is."""
    first, first_hard = out.starts[row], n_hard
    out.labels[row], exact, at, fault = _label(text, begin)
    if not exact:
        n_hard = _note(out.hard, n_hard, ~row, begin, at)
    n_values, last, rising, token = first, -1, True, begin
    while fault == Fault.NONE:
        token = at = _skip_spaces(text, at)
        if _ends_row(text[at]):
            break
        if _is_query(text, at):
            at = _skip_token(text, at)
            continue
        index, at, fault = _index(text, at, limits)
        if fault != Fault.NONE:
            break
        number = at
        out.columns[n_values] = index
        out.values[n_values], exact, at, fault = _value(text, number, limits.value)
        if not exact:
            n_hard = _note(out.hard, n_hard, n_values, number, at)
        if index == last:
            fault = Fault.REPEATED
        rising &= index > last
        last = index
        n_values += 1
    if fault == Fault.NONE and not rising:
        token = begin
        fault = _sort(out, first, n_values, out.hard[first_hard:n_hard, 0])
    return n_values, n_hard, fault, token


@njit(cache=True, nogil=True)
def _label(text, at):
    value, exact, end = _number(text, at)
    if end == at or not abs(value) <= LARGEST:
        return value, True, end, Fault.LABEL
    if text[end] == _COMMA:
        return value, True, end, Fault.SEVERAL_LABELS
    return value, exact, end, Fault.NONE if _ends_token(text[end]) else Fault.LABEL


@njit(cache=True, nogil=True)
def _index(text, at, limits):
    """Return an index, where its value begins, and its fault."""
    begin, index = at, 0
    while _is_digit(text[at]):
        index = min(10 * index + (text[at] - _ZERO), _FULL)
        at += 1
    if at == begin or text[at] != _COLON:
        return index, at, Fault.ENTRY
    return index, at + 1, Fault.NONE if limits.low <= index <= limits.high else Fault.INDEX


@njit(cache=True, nogil=True)
def _value(text, at, largest):
    value, exact, end = _number(text, at)
    sound = end > at and _ends_token(text[end]) and abs(value) <= largest
    return value, exact or not sound, end, Fault.NONE if sound else Fault.VALUE


@njit(cache=True, nogil=True)
def _number(text, at):
    """Return a number, whether it is what ``float`` gives, and its end (its begin if none)."""
    begin = at
    negative = text[at] == _MINUS
    at += negative or text[at] == _PLUS
    mantissa, power, n_digits, lost, point = 0, 0, 0, False, False
    while _is_digit(text[at]) or (text[at] == _POINT and not point):
        if text[at] == _POINT:
            point = True
        else:
            digit = np.int64(text[at] - _ZERO)
            n_digits += 1
            if mantissa < _FULL:
                mantissa = 10 * mantissa + digit
                power -= point
            else:
                lost |= digit > 0
                power += not point
        at += 1
    if n_digits == 0:
        return 0.0, True, begin
    if text[at] | 32 == _E:
        exponent, at = _exponent(text, at + 1)
        power += exponent
    value, exact = _scaled(mantissa, power)
    if lost:  # digits beyond the mantissa: do they matter?
        above, sure = _scaled(mantissa + 1, power)
        exact &= sure and above == value
    return -value if negative else value, exact, at


@njit(cache=True, nogil=True)
def _exponent(text, at):
    """Return an exponent and its end, which is its begin where there is none."""
    begin = at
    negative = text[at] == _MINUS
    at += negative or text[at] == _PLUS
    first, exponent = at, 0
    while _is_digit(text[at]):
        exponent = min(10 * exponent + (text[at] - _ZERO), _FULL)
        at += 1
    if at == first:
        return 0, begin - 1
    return -exponent if negative else exponent, at


@njit(cache=True, nogil=True)
def _scaled(mantissa, power):
    """Return ``mantissa * 10**power``, and whether it is surely rounded as it should be."""
    if mantissa == 0:
        return 0.0, True
    if mantissa < 2**53 and -22 <= power <= 22:  # two exact floats: one rounding
        ten = _TENS[_REACH + abs(power)]
        return (mantissa * ten if power >= 0 else mantissa / ten), True
    if abs(power) > _REACH:
        return mantissa * 10.0 ** np.float64(power), False
    ten, below = _TENS[_REACH + power], _BELOW[_REACH + power]
    head = np.float64(mantissa)
    tail = np.float64(mantissa - np.int64(head))
    product = head * ten
    rest = _rounding(head, ten, product) + (head * below + tail * ten)
    slack = product * 2.0**-100  # more than the error of the rest: 2^-102 of the product
    value = product + (rest - slack)
    return value, value == product + (rest + slack)


@njit(cache=True, nogil=True)
def _rounding(a, b, product):
    """Return what rounding took from a product (Dekker, 1971)."""
    a_high, a_low = _halves(a)
    b_high, b_low = _halves(b)
    return a_low * b_low - (((product - a_high * b_high) - a_low * b_high) - a_high * b_low)


@njit(cache=True, nogil=True)
def _halves(a):
    high = (2.0**27 + 1) * a
    high -= high - a
    return high, a - high


@njit(cache=True, nogil=True)
def _sort(out, first, end, slots):
    """Sort the entries of a row by index; the fault is an index that comes twice."""
    columns, values = out.columns[first:end], out.values[first:end]
    order = np.argsort(columns)
    place = np.argsort(order)
    columns[:], values[:] = columns[order], values[order]
    for k in range(len(slots)):
        if slots[k] >= 0:
            slots[k] = first + place[slots[k] - first]
    return Fault.REPEATED if np.any(columns[1:] == columns[:-1]) else Fault.NONE


@njit(cache=True, nogil=True)
def _note(hard, n_hard, slot, begin, end):
    hard[n_hard, 0], hard[n_hard, 1], hard[n_hard, 2] = slot, begin, end
    return n_hard + 1


@njit(cache=True, nogil=True)
def _is_digit(c):
    return _ZERO <= c <= _NINE


@njit(cache=True, nogil=True)
def _is_space(c):
    return c == _SPACE or (_TAB <= c <= _RETURN and c != _NEWLINE)


@njit(cache=True, nogil=True)
def _ends_row(c):
    return c in (_NEWLINE, _HASH)


@njit(cache=True, nogil=True)
def _ends_token(c):
    return _is_space(c) or _ends_row(c)


@njit(cache=True, nogil=True)
def _is_query(text, at):
    """Whether a token begins with "qid:"; a newline at the end keeps it within the text."""
    for c in _QUERY:
        if text[at] != c:
            return False
        at += 1
    return True


@njit(cache=True, nogil=True)
def _skip_spaces(text, at):
    while _is_space(text[at]):
        at += 1
    return at


@njit(cache=True, nogil=True)
def _skip_token(text, at):
    while not _ends_token(text[at]):
        at += 1
    return at
