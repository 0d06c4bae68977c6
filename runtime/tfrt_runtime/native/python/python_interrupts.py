"""The handler of SIGINT, a function of Python (`python_entries`); what it does `host.interrupts` says."""

from __future__ import annotations

from tfrt_runtime.native import python_layouts as py
from tfrt_runtime.native.memory import Address, call1, call4, entry, load
from tfrt_runtime.native.python.python_runs import shared, word


@entry
def handle(bound: Address, given: Address, count: int) -> Address:
    """`handle(number, frame)`; where the interrupt is to come later, it is sent once more.

    Code of Python cannot do that: its own next check would be the one that answers.
    """
    api = load(bound + py.PYTHON_BYTES)
    is_later = call4(load(api + py.PYTHON_CALL), load(api + py.PYTHON_ANSWER), given, 2, 0)
    if is_later == 0:
        return 0
    if is_later == load(api + py.PYTHON_TRUE):
        call1(load(api + py.PYTHON_INTERRUPT), word(api, given, 0))
    call1(load(api + py.PYTHON_DROP), is_later)
    return shared(api, load(api + py.PYTHON_NONE))
