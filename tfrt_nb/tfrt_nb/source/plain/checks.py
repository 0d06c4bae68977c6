"""Checks of a plain line: its results, its place, what it returns."""

from __future__ import annotations

import re

from xdsl.ir import Operation

from tfrt_nb.dialects.catalog import UnknownOp
from tfrt_nb.dialects.control_flow import JitOp, ReturnOp
from tfrt_nb.dialects.control_flow.structure import BodyOp, CallingOp
from tfrt_nb.dialects.kernel_op import KernelOp
from tfrt_nb.source.plain.program import RESULT, Body, Types
from tfrt_nb.source.plain.rows import NotPlain
from tfrt_runtime.bef.locations import FilePlace

_LOCATION = re.compile(r'\bloc\("([^"\\]*)":([0-9]{1,9}):([0-9]{1,9})\)[ ]*', re.ASCII)


def split_location(head: str, tail: str) -> tuple[str, str, FilePlace | None]:
    """A line without the `loc("file":1:2)` at its end, which may begin in its head, and that
    place.
    """
    if head.endswith("loc("):
        head, tail = head[:-4], f"loc({tail}"
    start = tail.rfind("loc(")
    match = _LOCATION.fullmatch(tail, max(start, 0))
    if match is None:
        return head, tail, None
    return head, tail[:start].rstrip(), FilePlace(match[1], int(match[2]), int(match[3]))


def check_return(body: Body, types: Types) -> None:
    """Whether a body may return values of these types.

    Raises:
        NotPlain: else.
    """
    if body.owner is None:
        if types != body.result_types:
            raise NotPlain
        return
    operation = body.owner.operation
    assert isinstance(operation, BodyOp)
    if not operation.accepts_return(types):
        raise NotPlain
    body.result_types = types


def check_sync_return(function: Body) -> None:
    """A sync function returns what it made, and each of it once.

    Raises:
        NotPlain: else.
    """
    returned = function.returned
    is_twice = len(set(returned)) < len(returned)
    if function.is_sync and (
        is_twice or any(register < function.argument_count for register in returned)
    ):
        raise NotPlain


def is_plain(operation: Operation) -> bool:
    """Whether only the operation's own line, its callees and its regions decide if it is right."""
    if isinstance(operation, BodyOp):
        return not (operation.attributes or isinstance(operation, JitOp))
    if not isinstance(operation, KernelOp | UnknownOp | CallingOp | ReturnOp):
        return False
    return not operation.regions and not operation.successors


def name_results(text: str, count: int, names: dict[str, int], first: int) -> None:
    """Name `count` results, the first of which has register `first`, as in `%a, %r:2`."""
    register = first
    for part in text.split(","):
        match = RESULT.fullmatch(part.strip(" "))
        if match is None or match[1] in names:
            raise NotPlain
        name, size = match[1], int(match[2] or 1)
        names[name] = register
        if match[2] is not None:
            names |= {f"{name}#{index}": register + index for index in range(min(size, count))}
        register += size
    if register != first + count:
        raise NotPlain
