"""Compiled search for the ends of rows in CSV; imported when first needed: Numba is slow to."""

from __future__ import annotations

from numba import njit

#: Where in a row the reading stands.
ROW, FIELD, INSIDE, QUOTED, CLOSED = range(
    5
)  # begin of a row or field, in it, in quotes, past them

_QUOTE, _CR, _LF = ord('"'), ord("\r"), ord("\n")


@njit(cache=True, nogil=True)
def row_ends(text, state, delimiter, limit):
    """Return the state after ``text``, how many rows end in it, and where the last one ends.

    Stops after ``limit`` rows. Lines without any entry are not rows. A quote counts at the
    begin of a field only, and two of them inside quotes are one that does not close.
    """
    n_rows, end = 0, 0
    for i in range(len(text)):
        c = text[i]
        if state == QUOTED:
            if c == _QUOTE:
                state = CLOSED
        elif c in (_LF, _CR):
            end = i + 1
            if state != ROW:
                n_rows += 1
                state = ROW
                if n_rows == limit:
                    break
        elif c == delimiter:
            state = FIELD
        elif c == _QUOTE and state != INSIDE:
            state = QUOTED
        else:
            state = INSIDE
    return state, n_rows, end
