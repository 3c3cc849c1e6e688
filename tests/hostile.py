"""A table that means harm: mixed types, gaps, and names that try to be markup."""

import numpy as np
import pandas as pd

OWN = "document.title='owned'"
HOSTILE = (
    f"<script>{OWN}</script>",
    f'"><img src="http://evil.invalid/x.png" onerror="{OWN}">',
    "</title></style></script><b id=owned>",
    "' onmouseover='x\x00",
)


def hostile_frame(n: int = 300) -> tuple[pd.DataFrame, np.ndarray]:
    """Mixed types, gaps, dates, an identifier, and names that try to be markup."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            HOSTILE[0]: rng.normal(size=n),
            HOSTILE[1]: rng.choice(np.array(["red", HOSTILE[2], None], dtype=object), n),
            HOSTILE[2]: rng.normal(size=n),
            "flag": rng.choice([True, False], n),
            "when": pd.date_range("2026", periods=n),
            "id": [f"{HOSTILE[0]}{i}" for i in range(n)],
        }
    )
    value = 2 * frame[HOSTILE[0]] + np.sin(3 * frame[HOSTILE[2]]) + rng.normal(0, 0.3, n)
    frame.loc[::7, HOSTILE[2]] = np.nan
    return frame, value.to_numpy()
