"""Implement `@tfrt.program`, which turns Python functions into programs."""

from __future__ import annotations

import functools
import inspect
import re
import reprlib
import threading
import typing
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from tfrt_nb.programs import Program
from tfrt_nb.tracing.calls import order_of, traced_call, unpacked
from tfrt_nb.tracing.control import final_chain, returned_items
from tfrt_nb.tracing.names import labels
from tfrt_nb.tracing.records import named_in, records_of, text_of
from tfrt_nb.tracing.trace import (
    Module,
    Trace,
    Traced,
    current,
    described,
    listed_types,
    tracing,
    type_of_value,
)
from tfrt_runtime.bef.reader import BefFile
from tfrt_runtime.diagnostics import Location, counted, refuse, require, require_column
from tfrt_runtime.executor.batch import Batch
from tfrt_runtime.executor.execution import Execution
from tfrt_runtime.host.context import HostContext
from tfrt_runtime.kernels.users.annotations import (
    CHAIN,
    OBJECT,
    Type,
    accepts,
    annotated_type,
    has_annotation,
    signature_of,
)

OPTIONS = ("host", "timeout", "output")
"""The keyword arguments of a call that are options, unless a parameter has the same name."""
CANCELLED = "another value was chosen"
SOON_SECONDS = 0.02
"""How many seconds to wait for the run that a control starts before the run is shown.

A run that finishes earlier is shown with its results immediately.
"""
_NOT_PLAIN = (inspect.CO_COROUTINE, inspect.CO_GENERATOR, inspect.CO_ASYNC_GENERATOR)


@dataclass(slots=True)
class Callee:
    """A traced function of a module, as its callers see it.

    `results` is None until the function's result types are known.
    """

    name: str
    results: tuple[str, ...] | None
    has_chain: bool = False
    is_called: bool = False
    """Whether a call, which may be recursive, depends on `results`."""


@functools.cache
def _run_options() -> frozenset[str]:
    """Return the names of the options of `Program.run`."""
    return frozenset(inspect.signature(Program.run).parameters)


class TracedProgram:
    """A Python function that is traced on its first call, once for each signature.

    Calling it starts a run. Inside another traced function, calling it adds a call to this
    function. `host=`, `timeout=`, and `output=` are options of the run, unless a parameter has the
    same name: `page(5, timeout=1.5)` is `page.options(timeout=1.5)(5)`.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        if not inspect.isfunction(function):
            hint = ": for source text, use tfrt.Program" if isinstance(function, str) else ""
            refuse(
                "a program is made from a function written in Python,"
                f" found {reprlib.repr(function)}{hint}"
            )
        if any(map(function.__code__.co_flags.__and__, _NOT_PLAIN)):
            refuse(
                f"@{function.__name__}: a program is a plain function, which is called once to trace it:"  # noqa: E501
                " no 'async def' and no 'yield'; a kernel may be an 'async def'"
            )
        functools.update_wrapper(self, function)
        self._function = function
        self._code = function.__code__
        self._signature = signature_of(function)
        self._lock = threading.RLock()
        self._versions: dict[tuple[str, ...], Program] = {}
        self._parameters = list(self._signature.parameters.values())
        self._names = {one.name for one in self._parameters}
        self._controls: Any = None
        self._has_named = any(one.kind is one.KEYWORD_ONLY for one in self._parameters)
        for parameter in self._parameters:
            if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
                refuse(f"@{self._name}: a program has a fixed number of arguments")
        types = [
            annotated_type(one.annotation) if has_annotation(one.annotation) else None
            for one in self._parameters
        ]
        self._types = [None if one == CHAIN else one for one in types]
        known = tuple(one for one in self._types if one is not None)
        self._fixed = known if len(known) == len(self._types) else None

    @functools.cached_property
    def _name(self) -> str:
        """The function's symbol in programs."""
        return re.sub(r"[^A-Za-z0-9_]", "_", self._function.__name__.strip("<>"))

    def __repr__(self) -> str:
        return f"<tfrt.program {self._name}{self._signature}>"

    def __reduce__(self) -> str:
        """Pickle the function by its name in its module, as Python functions are."""
        return self._function.__qualname__

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        refuse(f"@{self._name}: a method cannot be a program: use a function")

    @property
    def is_typed(self) -> bool:
        """Whether the annotations state the types of all arguments."""
        return self._fixed is not None

    @property
    def mlir(self) -> str:
        """The program's source text. The annotations must state the argument types."""
        return self.trace().mlir

    def trace(self, *values: object) -> Program:
        """Return the program for the given argument types, without running it.

        `values` are types, or values of these types. Without `values`, the annotations must state
        the types.

        Raises:
            TfrtError: if part of the function cannot be traced; located at its Python line.
        """
        if not values and not self.is_typed:
            refuse(
                f"@{self._name} has arguments whose annotations give no type: give the types,"
                f" as in {self._name}.trace(tfrt.i32)"
            )
        return self._version(self._types_of(values, _type_like) if values else self._fixed or ())

    def graph(self) -> Any:
        """Return the graph of the program; see `Program.graph`."""
        return self.trace().graph()

    def __call__(self, *values: Any, **keywords: Any) -> Any:
        trace = current()
        if trace is not None:
            return self._called(trace, self._bound(values, keywords))
        given = [name for name in keywords if name in OPTIONS and name not in self._names]
        options = {name: keywords.pop(name) for name in given}
        if keywords or self._has_named or len(values) < len(self._parameters):
            values = self._bound(values, keywords)
        types = self._fixed or self._types_of(values)
        # Versions are only ever added, so the common case needs no lock.
        program = self._versions.get(types) or self._version(types)
        return program._run_function(self._name, *values, **options)

    def options(self, **options: Any) -> ProgramOptions:
        """Return the program with options for its runs: `page.options(timeout=1.5, host=h)(5)`.

        Args:
            options: The options of `Program.run`. `timeout` is the time limit of one run in
                seconds, including all attempts of its kernels. `host` is the host on which the run
                executes.

        Raises:
            TfrtError: if neither `run` nor `map` has such an option.
        """
        self._check("options", options, {*_run_options(), "at_once"}, "run or map")
        return ProgramOptions(self, options)

    def _check(self, method: str, options: Iterable[str], known: Container[str], of: str) -> None:
        """Raise an error, located at the caller's line, if an option is not in `known`."""
        if unknown := [one for one in options if one not in known]:
            advice = ": call tfrt.map in a program" if unknown[0] == "errors" else ""
            refuse(f"{self._name}.{method}: {unknown[0]}= is not an option of {of}{advice}")

    @property
    def widget(self) -> Any:
        """The controls that `ipywidgets.interact` has created for the program."""
        if self._controls is None:
            raise AttributeError(f"@{self._name} has no widget: interact(...) makes one")
        return self._controls

    @widget.setter
    def widget(self, controls: Any) -> None:
        """Accept the controls of `interact`. Moving a control cancels the previous run."""
        self._controls = controls
        runs = [controls.result]

        def newest(**values: Any) -> Any:
            if isinstance(run := runs.pop() if runs else None, Execution):
                run.cancel(CANCELLED)
            runs.append(self(**values))
            if isinstance(runs[0], Execution):
                runs[0].wait_for_results(SOON_SECONDS)
            return runs[0]

        controls.f = newest

    def run(self, *values: Any, **options: Any) -> Execution:
        """Start the program; `options` are the options of `Program.run`."""
        self._check("run", options, _run_options(), "run")
        program = self._version(self._fixed or self._types_of(values))
        return program._run_function(self._name, *values, **options)

    def map(self, *columns: Any, **options: Any) -> Batch:
        """Call the program for each row of the columns, as one run; see `Program.map`.

        Arguments without annotations have the types of the first row.
        """
        self._check("map", options, ("host", "timeout", "at_once", "output"), "map")
        types = self._fixed
        if types is None:
            is_second = len(columns) == 2 and isinstance(columns[0], HostContext)
            given = columns[1] if is_second else columns
            for column in given:
                require_column(column)
                require(
                    len(column) > 0,
                    "the column of an argument without annotation",
                    "a sequence with at least one value (annotate the parameter if a column may be"
                    " empty)",
                    column,
                )
            # Do not use the index 0: a pandas Series may lack it, and a set has no indices.
            types = self._types_of([next(iter(column)) for column in given])
        return self._version(types).map(*columns, function=self._name, **options)

    def _bound(self, values: Sequence[Any], keywords: dict[str, Any]) -> tuple[Any, ...]:
        """Return the values in the order of the parameters."""
        try:
            bound = self._signature.bind(*values, **keywords)
        except TypeError as wrong:
            options = [one for one in keywords if one in ("function", *OPTIONS)]
            hint = f"; it is an option of {self._name}.run" if options else ""
            if "after" in keywords:
                hint = "; calls of programs are in order within 'with tfrt.in_order():'"
            refuse(f"@{self._name}: {wrong}{hint}")
        bound.apply_defaults()
        return tuple(bound.arguments[one.name] for one in self._parameters)

    def _types_of(
        self, values: Sequence[object], type_of: Callable[[object], str] | None = None
    ) -> tuple[str, ...]:
        """Return the types of arguments.

        The types come from the annotations or, where there are none, from the values, with
        `type_of`.
        """
        type_of = type_of or _type_of_argument
        if len(values) != len(self._parameters):
            taken = counted(len(self._parameters), "argument")
            refuse(f"@{self._name} takes {taken}, found {len(values)}")
        return tuple(
            known or type_of(value) for known, value in zip(self._types, values, strict=True)
        )

    def _version(self, types: tuple[str, ...]) -> Program:
        with self._lock:
            program = self._versions.get(types)
            if program is None:
                module = Module()
                with tracing(None):
                    self._traced(module, types, is_main=True)
                program = self._made(module)
                self._versions[types] = program
            return program

    def _made(self, module: Module) -> Program:
        """Return the program of the traced functions, whose source text is created on request."""
        records = records_of(module)
        source, named = self._code.co_filename, named_in(module)
        program = Program._of_file(
            BefFile.of(records, source),
            lambda: text_of(records, source, self._name, named=named),
        )
        program._captured = tuple(module.captured)
        program._labels = lambda name, arguments: labels(arguments, named.get(name))
        return program

    def _traced(
        self,
        module: Module,
        types: tuple[str, ...],
        *,
        is_main: bool = False,
        ordered: bool = False,
    ) -> Callee:
        """Return this program's function in a module; with `ordered`, it also passes a chain."""
        key = (self, types, ordered)
        found = module.versions.get(key)
        if isinstance(found, Callee):
            if found.results is None:
                refuse(
                    f"@{self._name} calls itself: annotate its result,"
                    f" as in def {self._name}(...) -> tfrt.i32"
                )
            found.is_called = True
            return found
        annotation = self._signature.return_annotation
        declared = declared_results(annotation, types)
        # With `-> None`, the function returns no value, and a chain only if it has effects or an
        # order.
        if declared == (CHAIN,):
            declared = ()
        callee = Callee(module.fresh(self._name), declared, ordered)
        # This precedes the tracing of the function, so that the function can call itself.
        module.versions[key] = callee
        place = Location(self._code.co_filename, self._code.co_firstlineno, 1)
        trace = Trace(module, callee.name, [*types, CHAIN] if ordered else types, place=place)
        trace.call_kernel = traced_call
        trace.names = [one.name for one in self._parameters]
        if ordered:
            trace.is_ordered, trace.order = True, trace.arguments[-1]
        with tracing(trace):
            # If the function is ordered, its last argument is a chain, which is not a parameter.
            given = dict(zip(self._parameters, trace.arguments, strict=False))
            by_name = {p.name: v for p, v in given.items() if p.kind is p.KEYWORD_ONLY}
            returned = self._function(
                *[v for p, v in given.items() if p.kind is not p.KEYWORD_ONLY], **by_name
            )
            items = returned_items(trace, returned)
            if declared is not None and len(declared) != len(items):
                refuse(
                    f"@{self._name} returns {counted(len(items), 'value')}, but its annotation says {len(declared)}"  # noqa: E501
                )
            likes = declared or (None,) * len(items)
            with described(f"what @{self._name} returns", place):
                results = [trace.value(item, like) for item, like in zip(items, likes, strict=True)]
            kinds = tuple(value.type for value in results)
            if declared is not None and kinds != declared:
                said = typing.get_args(annotation) or (annotation,)
                fits = all(accepts(one, kind) for one, kind in zip(said, kinds, strict=True))
                # After a recursive call has used the declared types, they can no longer change.
                if not fits or callee.is_called:
                    refuse(
                        f"@{self._name} returns {listed_types(kinds)},"
                        f" but its annotation says {listed_types(declared)}"
                    )
            callee.results = kinds
            if not is_main and (ordered or trace.effects):
                callee.has_chain = True
                results.append(final_chain(trace))
        trace.close(results)
        return callee

    def _called(self, trace: Trace, values: Sequence[Any]) -> Any:
        """Add a call of this program to another traced function."""
        given = []
        for known, value in zip(self._types, values, strict=True):
            item = trace.value(value, known)
            if known not in (None, OBJECT, item.type):
                refuse(f"an argument of @{self._name} is {known}, found {item.type}: cast it")
            given.append(item)
        types = tuple(value.type for value in given)
        with tracing(None):
            callee = self._traced(trace.module, types, ordered=trace.is_ordered)
        assert callee.results is not None
        if trace.is_ordered:
            given.append(trace.chain_of(order_of(trace, ())))
        kinds = [*callee.results, *[CHAIN] * callee.has_chain]
        results = trace.kernel("tfrt.call", given, kinds, callees=[callee.name])
        if not callee.has_chain:
            return unpacked(results)
        trace.effect(results[-1])
        return unpacked(results[:-1]) if len(results) > 1 else results[-1]


@dataclass(frozen=True, slots=True)
class ProgramOptions:
    """A traced program whose runs have options; see `TracedProgram.options`."""

    program: TracedProgram
    chosen: dict[str, Any]

    def __call__(self, *values: Any, **keywords: Any) -> Execution:
        """Start the program with these arguments."""
        if current() is not None:
            name = self.program._name
            refuse(
                f"@{name}: a call inside a program is part of the program's run: give the "
                "options to that run"
            )
        return self.run(*self.program._bound(values, keywords))

    def run(self, *values: Any, **options: Any) -> Execution:
        """See `TracedProgram.run`."""
        return self.program.run(*values, **self.chosen | options)

    def map(self, *columns: Any, **options: Any) -> Batch:
        """See `TracedProgram.map`."""
        return self.program.map(*columns, **self.chosen | options)

    def options(self, **options: Any) -> ProgramOptions:
        """Return the same program with additional or changed options."""
        return self.program.options(**self.chosen | options)


def declared_results(annotation: object, types: Sequence[str]) -> tuple[str, ...] | None:
    """Return the types in a return annotation, or None if the annotation is incomplete."""
    if not has_annotation(annotation):
        return None
    items = typing.get_args(annotation) if typing.get_origin(annotation) is tuple else (annotation,)
    found = [annotated_type(item, types) for item in items]
    return None if None in found else tuple(one for one in found if one is not None)


def _type_like(value: object) -> str:
    """Return the type that `value` is or names; otherwise, return the value's type."""
    if isinstance(value, Type):
        return value.name
    return annotated_type(value) or OBJECT if inspect.isclass(value) else _type_of_argument(value)


def _type_of_argument(value: object) -> str:
    return value.type if isinstance(value, Traced) else type_of_value(value)


def program(function: Callable[..., Any]) -> TracedProgram:
    """Turn a Python function into a program that is traced on its first call.

    Raises:
        TfrtError: if the function takes a variable number of arguments.
    """
    return TracedProgram(function)
