"""Kernels that users have registered in Python, as the compiler sees them: it does not know the runtime."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass


def _unknown(name: str, operands: Sequence[str]) -> tuple[str, ...] | None:
    return None


@dataclass
class UserKernels:
    """`programs`, which stands on the runtime, says what there is; without it there are none."""

    names: Callable[[], Iterable[str]] = tuple
    result_types: Callable[[str, Sequence[str]], tuple[str, ...] | None] = _unknown
    """The types of a kernel's results where its operands have these types; None if it does not say."""


USER_KERNELS = UserKernels()
