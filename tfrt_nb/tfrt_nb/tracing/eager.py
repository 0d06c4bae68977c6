"""Implement `tfrt.call`, which runs a single kernel, and `tfrt.call_each`."""

from __future__ import annotations

import re
import sys
import threading
from collections.abc import Callable, Sequence
from itertools import repeat
from operator import itemgetter
from struct import unpack
from types import CodeType, FunctionType
from typing import Any

from tfrt_nb.dialects.tables import SIGNATURES
from tfrt_nb.dialects.tables.signatures import Signature, spelled
from tfrt_nb.programs import Program
from tfrt_nb.tracing.calls import CallPlan, attributes_of, bound, typed_attribute
from tfrt_nb.tracing.records import records_of, text_of
from tfrt_nb.tracing.trace import Module, Trace, Traced, current, type_of_value
from tfrt_runtime.bef.reader import BefFile
from tfrt_runtime.bef.records import BefModule
from tfrt_runtime.diagnostics import TfrtError, counted, refuse, require_column
from tfrt_runtime.executor.batch import Batch
from tfrt_runtime.executor.calls import Entry
from tfrt_runtime.executor.execution import Execution
from tfrt_runtime.executor.program import Executable
from tfrt_runtime.host.default_host import default_host
from tfrt_runtime.host.payload import CHAIN as A_CHAIN
from tfrt_runtime.host.process import MISSING, native_process
from tfrt_runtime.host.values.async_value import AsyncValue
from tfrt_runtime.kernels.standard import available_kernels
from tfrt_runtime.kernels.users.annotations import (
    CHAIN,
    OBJECT,
    annotated_type,
    has_annotation,
    result_types,
)
from tfrt_runtime.kernels.users.user import USER_FUNCTIONS, USER_KERNELS, UserKernel
from tfrt_runtime.scalars import OPERATIONS

_CACHE_SIZE = 4096
_Found = tuple[Executable, Entry, bool, int, CodeType]
"""A cached call.

The tuple has the program, its function, whether the function takes an additional chain, the address
of a native kernel for numbers or 0, and the caller's code. The code is kept alive because its
address is part of the key.
"""
_programs: dict[object, _Found] = {}
"""The cache of calls, keyed by the caller's instruction, the kernel, the types, and the attributes.
"""
_checked: set[object] = set()
"""The keys of valid programs, without the caller."""
_TYPED = {name for name, one in SIGNATURES.items() if "any" not in (*one.operands, one.rest)}
"""The kernels whose signature alone determines the argument types, whatever the values are."""
_lock = threading.Lock()


def call(name: str | Callable[..., object], /, *values: object, **attributes: Any) -> Any:
    """Run one kernel on the default host, and return its AsyncValue.

    If the kernel does not have exactly one result, return a tuple. `name` is the kernel's name or a
    function decorated with `kernel`. The types come from the kernel's signature or, for a user's
    kernel, from the values. A chain that is the last argument may be omitted. For a user's kernel,
    `attributes` may also contain arguments, by parameter name. Each calling line has its own cached
    program, so errors have the caller's location.

    Raises:
        TfrtError: if the kernel does not exist, or does not take these arguments or attributes.
    """
    if attributes:
        values, attributes = _by_position(name, values, attributes)
    program, entry, needs_chain, kernel, _ = _program(name, values, attributes)
    host = default_host()
    queue = host.work_queue
    # The shortcut makes no run, so it is not taken where a run would be traced or cancelled.
    if kernel and queue.takes_calls and host.tracing is None and host.cancel_message is None:
        found = queue.process.at_once(queue.address, kernel, entry.template, values)
        if type(found) is int:
            return AsyncValue(queue, found, entry.result_types[0])
        # Two results are returned as the bytes of two addresses.
        if found is not MISSING:
            return tuple(map(AsyncValue, repeat(queue), unpack("qq", found), entry.result_types))
    if needs_chain:
        values = (*values, A_CHAIN)
    results = Execution.results_of(host, program, entry, values)
    return results[0] if len(results) == 1 else tuple(results)


def call_each(
    name: str | Callable[..., object], /, *columns: Sequence[Any], **attributes: Any
) -> Batch:
    """Run one kernel for each row of the columns, as one run on the default host.

    See `Program.map`. The types are those that `call` would use for the first row.

    Raises:
        TfrtError: if `call` would raise one, or if the columns do not fit the kernel.
    """
    given = (*columns, *attributes.values())
    if attributes:
        columns, attributes = _by_position(name, columns, attributes)
    own = [one for one in columns if any(one is value for value in given)]
    for column in own:
        require_column(column)
    if len(own) < len(columns):  # a default value between the columns is not a column
        count = len(own[0]) if own else 0
        columns = tuple([one if any(one is o for o in own) else [one] * count for one in columns])
    firsts = tuple([next(iter(column), None) for column in columns])
    program, _, needs_chain, _, _ = _program(name, firsts, attributes)
    if needs_chain and columns:
        columns = (*columns, [A_CHAIN] * len(columns[0]))
    return Batch(default_host(), program, 0, columns)


def _by_position(
    name: str | Callable[..., object], values: tuple[Any, ...], keywords: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return the values and the attributes of a call.

    The values include those that are passed to a user's kernel by name.
    """
    kernel = USER_FUNCTIONS.get(name if type(name) is str else _name_of(name))
    for option in ("host", "timeout"):
        if option in keywords and (kernel is None or option not in kernel.signature.parameters):
            refuse(
                f"tfrt.call has no option {option}=: it always uses the default host, and"
                " result(timeout) limits the wait. To set options, call the kernel from a"
                f" @tfrt.program, as in page.options({option}=...)(5)"
            )
    if kernel is None or not any(one.name in keywords for one in CallPlan.of(kernel).positional):
        return values, keywords
    return bound(kernel, values, keywords)


def _program(
    name: str | Callable[..., object], values: tuple[object, ...], attributes: dict[str, Any]
) -> _Found:
    """Return the program that calls a kernel with values of these types.

    The program is created when the caller's instruction first runs.
    """
    if type(name) is not str and type(name) is not FunctionType:
        name = _name_of(name)  # the name may be an unhashable object
    frame = sys._getframe(2)  # frame 2 is the caller of `call` or `call_each`
    code = frame.f_code
    types: object = len(values)
    if name not in _TYPED:
        kinds = tuple(map(type, values))
        types = (
            tuple([type_of_value(v) if isinstance(v, AsyncValue) else type(v) for v in values])
            if AsyncValue in kinds
            else kinds
        )
    # Use a single tuple, because hashing several tuples would take a large part of a call's time.
    key: tuple[object, ...]
    key = (id(code), frame.f_lasti, name, USER_KERNELS.version, types)
    if attributes:
        key += (*attributes, *map(_attribute_key, attributes.values()))
    # Only writers need the lock, because a lookup in a dictionary is atomic.
    found = _programs.get(key)
    if found is None:
        if current() is not None and any(isinstance(one, Traced) for one in values):
            refuse(
                "tfrt.call runs a kernel at once, and a traced value has no number yet: use an operator, or"  # noqa: E501
                " call a function with @tfrt.kernel"
            )
        if type(name) is not str:
            name = _name_of(name)
        program, needs_chain = _loaded(name, values, attributes, key[2:])
        found = program, program.entry(0), needs_chain, _number_kernel(name), code
        with _lock:
            if len(_programs) >= _CACHE_SIZE:
                _programs.clear()
                _checked.clear()
            _programs[key] = found
    return found


def _number_kernel(name: str) -> int:
    """Return the address of a pure native kernel for numbers with one or two results, or 0."""
    operation = OPERATIONS.get(name)
    if operation is None or len(operation.results) not in (1, 2):
        return 0
    return native_process().library[f"scalar_kernels.{operation.symbol}"]


def _name_of(function: object) -> str:
    """Return the kernel's name, given a decorated function or a string."""
    if isinstance(function, str):
        return str(function)
    kernel = getattr(function, "kernel", None)
    if isinstance(kernel, UserKernel):
        kernel.check_is_registered()
        return kernel.name
    refuse(
        f"tfrt.call takes the name of a kernel, or a function with @tfrt.kernel; found {function!r}"
    )


def _loaded(
    name: str, values: tuple[object, ...], attributes: dict[str, Any], key: object
) -> tuple[Executable, bool]:
    """Return the program that calls a kernel, and whether it takes an additional chain.

    The program's source is checked only once for each `key`. Errors are located at the caller's
    line.
    """
    module, needs_chain = _traced(name, values, attributes)
    records, source = records_of(module), f"<{name}>"
    if key not in _checked and not _is_right(name, records, source):
        symbol = module.functions[0].name
        try:
            Program.from_source(text_of(records, source, symbol, places=False), source).load()
        except TfrtError as problem:
            if getattr(problem.diagnostics[0].location, "source", "") != source:
                raise
            refuse("; ".join(m.message for one in problem.diagnostics for m in (one, *one.notes)))
    _checked.add(key)
    return Program._of_file(BefFile.of(records, source)).load(), needs_chain


def _is_right(name: str, records: BefModule, source: str) -> bool:
    """Return whether the program for a call can be loaded and needs no further check.

    If not, the caller checks the source of the program, which requires xDSL.
    """
    if name not in USER_FUNCTIONS and (name not in _TYPED or SIGNATURES[name].attributes):
        return False
    try:
        Program._of_file(BefFile.of(records, source)).load()
    except TfrtError:
        return False
    return True


def _attribute_key(value: object) -> object:
    """Return a key that differs for different attributes.

    As dictionary keys, True, 1, and 1.0 would be equal, as would -0.0 and 0.0.  A subclass may have
    one `repr` for different values.
    """
    if type(value) is int or type(value) is str:
        return value
    return type(value), repr(value), value if isinstance(value, int | float | str) else None


def _traced(
    name: str, values: tuple[object, ...], attributes: dict[str, Any]
) -> tuple[Module, bool]:
    """Return a trace of a kernel call, and whether the call takes an additional chain."""
    signature = SIGNATURES.get(name)
    if signature is not None:
        types, results, needs_chain = _of_signature(signature, values)
        words = signature.attributes
        if unknown := [one for one in attributes if one not in words]:
            known = ", ".join(f"'{one}'" for one in words) or "none"
            refuse(f"'{name}' has no attribute '{unknown[0]}'; its attributes are: {known}")
        given = [
            (key, typed_attribute(words.get(key, ""), key, v)) for key, v in attributes.items()
        ]
    else:
        if name not in available_kernels():
            from tfrt_nb.dialects.catalog import similar_operations  # importing xDSL takes a second

            near = similar_operations(name)
            if name in near:
                refuse(
                    f"'{name}' is a program operation, not a kernel: use it in the source of a tfrt.Program"  # noqa: E501
                )
            hint = f"; did you mean '{near[0]}'?" if near else ""
            refuse(f"unknown kernel '{name}'{hint}")
        types, results = _of_values(name, values)
        needs_chain = False
        given = attributes_of(USER_FUNCTIONS.get(name), attributes)
    module = Module()
    # Messages about arguments name the function, so it gets the kernel's name if that is a valid
    # symbol.
    symbol = name if re.fullmatch(r"[A-Za-z_][\w.]*", name, re.ASCII) else "main"
    trace = Trace(module, symbol, types)
    trace.close(trace.kernel(name, trace.arguments, results, sorted(given, key=itemgetter(0))))
    return module, needs_chain


def _of_signature(
    signature: Signature, values: tuple[object, ...]
) -> tuple[list[str], list[str], bool]:
    """Return the types of the operands and results, and whether the call omits a chain."""
    words = list(signature.operands)
    if signature.rest is not None:
        words += [signature.rest] * (len(values) - len(words))
    needs_chain = bool(words) and words[-1] == "chain" and len(values) == len(words) - 1
    if len(values) + needs_chain != len(words):
        taken = counted(len(words), "argument")
        refuse(f"'{signature.name}' takes {taken}, found {len(values)}")
    known = [*values, A_CHAIN] if needs_chain else values
    types = [
        spelled(word) if word != "any" else type_of_value(value)
        for word, value in zip(words, known, strict=True)
    ]
    results = [spelled(word) if word != "any" else OBJECT for word in signature.results]
    return types, results, needs_chain


def _of_values(name: str, values: tuple[object, ...]) -> tuple[list[str], list[str]]:
    """Return the types of the operands and results of a user's kernel."""
    types = [CHAIN if value is A_CHAIN else type_of_value(value) for value in values]
    kernel = USER_FUNCTIONS.get(name)
    if kernel is None:
        return types, [OBJECT]
    parameters = list(kernel.signature.parameters.values())
    for index, parameter in enumerate(parameters[: len(types)]):
        if has_annotation(parameter.annotation) and parameter.annotation not in (int, bool, None):
            wanted = annotated_type(parameter.annotation)
            is_open = parameter.annotation is float and types[index] not in ("i64", OBJECT)
            if wanted is not None and not is_open:
                types[index] = wanted
        # An `int` accepts every integer type, so only an unknown type becomes i64.
        elif parameter.annotation is int and types[index] == OBJECT:
            types[index] = "i64"
    return types, list(result_types(kernel.signature.return_annotation, types))
