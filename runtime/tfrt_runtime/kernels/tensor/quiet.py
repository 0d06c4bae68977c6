"""Arithmetic without numpy's warnings.

To a kernel infinities and NaNs are numbers like others.  `numpy.errstate` would say so for each
call at more than the price of a small kernel; here each thread says it once, in a context of its
own that its other code never sees.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextvars import Context
from typing import ParamSpec, TypeVar

import numpy as np

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


class _Quiet(threading.local):
    def __init__(self) -> None:
        self.context = Context()
        self.context.run(np.seterr, all="ignore")


_quiet = _Quiet()


def quietly(
    function: Callable[Parameters, Result], *args: Parameters.args, **kwargs: Parameters.kwargs
) -> Result:
    """`function(*args, **kwargs)`, whose floating-point results may be anything.

    The function calls nothing but numpy: a thread is in its quiet context at most once at a time.
    """
    return _quiet.context.run(function, *args, **kwargs)
