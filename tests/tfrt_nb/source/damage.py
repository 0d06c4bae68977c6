"""Sources with a few wrong tokens, for tests of readers that must agree on them."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

TOKEN = re.compile(r"[%@!]?[A-Za-z_0-9][\w$.#-]*|->|\s+|\S")


def damaged(text: str, random_: random.Random, others: Sequence[str]) -> str:
    """Return `text` with one or two tokens omitted, doubled, replaced, or followed by another."""
    tokens = TOKEN.findall(text)
    for _ in range(random_.choice([1, 1, 2])):
        position = random_.randrange(len(tokens))
        other = random_.choice([*tokens, *others])
        tokens[position] = random_.choice(
            ["", other, tokens[position] * 2, tokens[position] + other]
        )
    return "".join(tokens)
