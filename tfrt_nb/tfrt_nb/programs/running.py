"""Run a program: bind it to kernels, compile its functions, and start runs of them."""

from __future__ import annotations

import functools
import warnings
import weakref
from collections import ChainMap
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from tfrt_nb.nesting import (
    deep_stack,
)
from tfrt_nb.programs.inspecting import Inspection
from tfrt_runtime.diagnostics import (
    TfrtError,
    deadline_in,
    error,
    meant,
    note,
    place_of_caller,
    require,
    require_column,
)
from tfrt_runtime.executor.batch import Batch
from tfrt_runtime.executor.calls import Entry
from tfrt_runtime.executor.execution import Execution
from tfrt_runtime.executor.machine import AUTO, Code, LoadedFunction, Tier
from tfrt_runtime.executor.program import Executable
from tfrt_runtime.hooks import HOOKS
from tfrt_runtime.host.context import HostContext, Sink
from tfrt_runtime.host.default_host import default_host
from tfrt_runtime.kernels.registry import Kernel
from tfrt_runtime.kernels.standard import available_kernels
from tfrt_runtime.kernels.users.user import USER_FUNCTIONS, USER_KERNELS, annotated_results

if TYPE_CHECKING:
    from tfrt_runtime.host.tracing.events import Watch


# numpy is included because it calls methods of values that are passed to it.
HOOKS.own_packages.update(("tfrt_nb", "numpy"))
HOOKS.kernel_names, HOOKS.result_types = USER_FUNCTIONS.keys, annotated_results


class Way(NamedTuple):
    """How compiled functions run.

    `watched` says whether they log which blocks run. `interpreted` says whether they are
    interpreted.
    """

    watched: bool = False
    interpreted: bool = False


AS_USUAL = Way()


class _HotFunctions:
    """The compiler for hot functions, which is imported when a function first becomes hot."""

    is_imported = False

    def compile(
        self, functions: Mapping[int, LoadedFunction], index: int, *, is_body: bool
    ) -> Code:
        from tfrt_nb.jit.host_functions import compile_hot

        self.is_imported = True
        return compile_hot(functions, index, is_body=is_body)


HOOKS.compiler = _HotFunctions()

_FORMER_MEMBERS = frozenset(
    (
        "compiled",
        "default_function",
        "load_compiled",
        "module",
        "named_values",
        "own_functions",
        "parsed",
        "run_function",
    )
)
"""Members that were public in 0.1.

They still work, unless a function of the program has the same name.
"""


class NoFunctionError(TfrtError, KeyError):
    """The error for `program[name]` if the program has no function with that name."""


class Running(Inspection):
    """The part of `Program` that loads the program and runs its functions."""

    _captured: Sequence[object]
    """The objects that a traced function captured; see `tfrt_nb.tracing`."""
    _executables: dict[bool, tuple[int, Executable]]
    """The executables with interpreted functions (True) and with machine code (False).

    Each comes with the version of the users' kernels to which it is bound.
    """
    _kernels_of_code: dict[Way, Mapping[str, Kernel]]
    """The compiled functions as kernels, by the way in which they run."""
    _executables_of_code: dict[Way, Executable]
    """The compiled functions as executables, by the way in which they run."""
    _bound: dict[str | None, tuple[int, Executable, Entry]]
    """The entry of each function that has been run, by name, or by None for the default function.

    Each comes with the version of the users' kernels.
    """

    def __getattr__(self, name: str) -> Callable[..., Execution]:
        # Python and IPython look up hooks such as __array__ and _repr_png_, and call the hooks that
        # they find. Therefore, a function with such a name is not a member.
        if not name[:1] == "_" == name[-1:] and name in self._signatures:
            return functools.partial(self._run_function, name)
        if name in _FORMER_MEMBERS:
            what = "is internal and will be removed; the guide lists what is public"
            warnings.warn(f"Program.{name} {what}", DeprecationWarning, stacklevel=2)
            return getattr(self, f"_{name}")  # type: ignore[no-any-return]
        raise AttributeError(f"the program has no function @{name}: it has {self._listed()}")

    def __getitem__(self, name: str) -> Callable[..., Execution]:
        """Return the method that starts the function with that name, which may be any string.

        Raises:
            NoFunctionError: if no function has that name. The error points to the caller's line,
                and is both a TfrtError and a KeyError.
        """
        require(isinstance(name, str), "the index of a program", "the name of a function", name)
        if name in self._signatures:
            return functools.partial(self._run_function, name)

        place = place_of_caller()
        advice = meant(name, self._signatures, form="@{}")
        notes = [note(advice, place)] if advice else []
        text = f"the program has no function @{name}: it has {self._listed()}"
        raise NoFunctionError(error(text, place, notes))

    def run(
        self,
        *values: object,
        host: HostContext | None = None,
        function: str | None = None,
        arguments: Sequence[object] | None = None,
        timeout: float | None = None,
        kernels: Mapping[str, Kernel] | None = None,
        output: Sink | None = None,
        wake: bool = True,
        watch: Watch | bool = False,
        tier: Tier | str = AUTO,
    ) -> Execution:
        """Start a function with `values` as its arguments.

        `run(host, function, arguments)` also works.

        Args:
            values: for each argument, a Python value, an AsyncValue of any host, or a future.
            host: the host on which the function runs. The default is `default_host()`.
            function: the function's name. The default is @main, or the only public function.
            timeout: the number of seconds after which the run is cancelled. Its results then raise
                `TimeoutError`.
            output: a function that gets the program's output, instead of the host's sink.
            wake: whether to start the host's workers, if they have not started. With False, the
                first wait for the host's values starts them.
            watch: whether to log the run's events, for `documents.RunDocument`. Pass a `Watch` to
                set options of the log.
            tier: "auto" compiles functions of scalars to machine code when they become hot, and
                "compiled" compiles them at once. "interpreter" compiles nothing, not even compiled
                functions. The run's `tier` says which tier ran, and its `tier_note` says why a
                function was not compiled.

        Raises:
            TfrtError: if the program cannot be loaded or has no such function, or if the arguments
                do not fit the function. The error points to the caller's line.
        """
        if arguments is not None or (
            host is None and values and isinstance(values[0], HostContext)
        ):
            host, function, values = _given(host, function, values, arguments)
        if timeout is not None:
            deadline_in(timeout)  # raises before anything starts
        if type(host) is not HostContext:
            host = _host(host)
        if function is not None:
            require(isinstance(function, str), "function", "the name of a function", function)
        if output is not None:
            require(callable(output), "output", "a function that takes a string", output)
        interpreted = False
        if tier is not AUTO:
            try:
                tier = Tier(tier)
            except ValueError:
                require(False, "tier", "auto, interpreter or compiled", tier)
                raise
            interpreted = tier is Tier.INTERPRETER and self._compiled is not None
        follower = None
        if HOOKS.follower is not None and not watch:
            follower = HOOKS.follower()
            if follower is not None and tier is AUTO:
                watch = follower.watch or False
        if watch:
            from tfrt_runtime.host.tracing.events import Watch

            watch = Watch() if watch is True else watch
            require(isinstance(watch, Watch), "watch", "True, False or a Watch", watch)
        if kernels is None and not watch and host.tracing is None and not interpreted:
            bound = self._bound.get(function)
            if bound is None or bound[0] != USER_KERNELS.version:
                executable, name = self._loaded(host, function)
                bound = USER_KERNELS.version, executable, executable.entry(name)
                self._bound[function] = bound
            _, executable, entry = bound
        else:
            executable, name = self._loaded(host, function, kernels, Way(bool(watch), interpreted))
            entry = executable.entry(name)
        # Arguments are passed by position, because a call of a class with keyword arguments creates
        # a dictionary.
        run = Execution(host, executable, entry, values, output, wake, watch or None, tier)
        # Measure the time from here, because the first run of a process also imports and compiles.
        if timeout is not None and (deadline := deadline_in(timeout)) is not None:
            run.cancel_at(deadline, timeout)
        if follower is not None:
            follower.begun(run, values)
        return run

    def map(
        self,
        *columns: Any,
        host: HostContext | None = None,
        function: str | None = None,
        timeout: float | None = None,
        at_once: int | None = None,
        output: Sink | None = None,
    ) -> Batch:
        """Call a function once for each row of the columns, as one run.

        `map(host, columns)` also works.

        Args:
            columns: for each argument, a sequence or numpy array of its values. All columns have
                the same length.
            host: the host on which the function runs. The default is `default_host()`.
            function: the function's name. The default is @main, or the only public function.
            timeout: the number of seconds after which the run is cancelled. Results that are not
                available by then raise `TimeoutError`.
            at_once: the maximum number of calls in flight at a time, which limits how much memory
                they hold. By default, there is no maximum.
            output: a function that gets the program's output, instead of the host's sink.

        Raises:
            TfrtError: if the program cannot be loaded or has no such function, or if the columns do
                not fit the function. The error points to the caller's line.
        """
        if columns and isinstance(columns[0], HostContext):
            if len(columns) != 2:
                raise TypeError(
                    "after a host, map takes one list of columns, as in map(host, [a, b])"
                )
            host, columns = columns
        host = _host(host)
        for column in columns:
            require_column(column)
        executable, function = self._loaded(host, function)
        deadline_in(timeout)  # raises before anything starts
        batch = Batch(host, executable, function, columns, output=output, at_once=at_once)
        if (deadline := deadline_in(timeout)) is not None:
            batch.cancel_at(deadline, timeout)
        if HOOKS.follower is not None and (follower := HOOKS.follower()) is not None:
            follower.begun(batch, ())
        return batch

    def load(
        self,
        kernels: Mapping[str, Kernel] | None = None,
        *,
        watched: bool = False,
        interpreted: bool = False,
    ) -> Executable:
        """Bind the program to the kernels of a registry, so that it is ready to run.

        By default, the registry has all kernels. With `watched`, compiled functions log which
        blocks run, and are slower. With `interpreted`, compiled functions are interpreted instead
        of being compiled to machine code.

        Raises:
            TfrtError: if the program uses kernels that do not exist, or calls kernels with the
                wrong signature.
        """
        is_mapping = kernels is None or isinstance(kernels, Mapping)
        require(
            is_mapping, "kernels", "a KernelRegistry, or a mapping of names to kernels", kernels
        )
        # Only compiled functions need other code for a watched run.
        watched = watched and any(map(self._is_compiled, self.file.functions))
        if kernels is not None or watched:
            available = available_kernels() if kernels is None else kernels
            registry = self._with_compiled(available, Way(watched, interpreted))
            return self._named(Executable(self.file, registry))
        known = self._executables.get(interpreted)
        if known is None or known[0] != USER_KERNELS.version:
            registry = self._with_compiled(available_kernels(), Way(False, interpreted))
            known = USER_KERNELS.version, self._named(Executable(self.file, registry))
            self._executables[interpreted] = known
        return known[1]

    def compile(self, *, watched: bool = False, interpreted: bool = False) -> None:
        """Compile the functions that become machine code, unless this has been done before.

        The arguments are the same as for `load`.

        Raises:
            TfrtError: if a function cannot be compiled.
        """
        with deep_stack():
            self._compiled_kernels(Way(watched, interpreted))

    def _run_function(self, name: str, /, *values: object, **options: Any) -> Execution:
        """Start the function with that name. `options` are the options of `run`."""
        return self.run(function=name, arguments=values, **options)

    def _loaded(
        self,
        host: HostContext,
        function: str | None,
        kernels: Mapping[str, Kernel] | None = None,
        way: Way = AS_USUAL,
    ) -> tuple[Executable, str]:
        """Return the executable that has a function, and the function's name.

        `function` is None for the default function.
        """
        if function is None:
            function = self._default_function or "main"
        way = way._replace(watched=way.watched or host.is_traced)
        if self._compiled is not None and function in self._compiled.functions:
            return self._load_compiled(function, **way._asdict()), function
        return self.load(kernels, **way._asdict()), function

    def _load_compiled(
        self, function: str, *, watched: bool = False, interpreted: bool = False
    ) -> Executable:
        """Load the compiled functions, each as a host function that makes one call.

        The functions are loaded on first use. The arguments are the same as for `load`.

        Raises:
            TfrtError: if a function cannot be compiled, or if Python cannot call `function`.
        """
        assert self._compiled is not None
        if function not in self._runnable:
            called = self._compiled.functions[function]
            text = f"@{function} cannot be called from outside: its {called.uncrossable}"
            raise TfrtError(error(text, called.location))
        way = Way(watched, interpreted)
        if way not in self._executables_of_code:
            from tfrt_nb.compiled.kernels import argument_names, function_file

            names = argument_names(self._compiled, self._runnable)
            file = function_file(self._compiled, self._runnable, self.name)
            with deep_stack():
                executable = Executable(file, self._compiled_kernels(way))
            executable.name_of = lambda function, argument: names.get((function, argument), "")
            self._executables_of_code[way] = executable
        return self._executables_of_code[way]

    def _named(self, executable: Executable) -> Executable:
        """Make errors of `executable` use the source names of arguments; return `executable`."""
        # The program refers to its executables, so a strong reference would make a cycle.
        program = weakref.ref(self)

        def name_of(function: int, register: int) -> str:
            named = program()
            found = None if named is None else named._named_values().get((function, register))
            return "" if found is None else f"%{found.removeprefix('%')}"

        executable.name_of, executable.origin = name_of, program
        executable.captured = self._captured
        return executable

    def _with_compiled(self, kernels: Mapping[str, Kernel], way: Way) -> Mapping[str, Kernel]:
        """Return the kernels, and compiled functions as kernels if host functions call any."""
        is_called = any(map(self._is_compiled, self.file.functions))
        if not is_called:
            return kernels
        return ChainMap(self._compiled_kernels(way), kernels)  # type: ignore[arg-type]  # only read

    def _compiled_kernels(self, way: Way) -> Mapping[str, Kernel]:
        """Return kernels for the compiled functions that can be run or that host functions call.

        The functions are compiled on first use.

        Raises:
            TfrtError: if a function cannot be compiled.
        """
        if self._compiled is None:
            return {}
        if way not in self._kernels_of_code:
            from tfrt_nb.compiled.kernels import compile_kernels

            called = [f.name for f in self.file.functions if self._is_compiled(f)]
            names = list(dict.fromkeys([*called, *self._runnable]))
            self._kernels_of_code[way] = compile_kernels(self._compiled, names, **way._asdict())
        return self._kernels_of_code[way]

    @cached_property
    def _runnable(self) -> list[str]:
        """The compiled functions whose arguments and results can be Python values."""
        functions = {} if self._compiled is None else self._compiled.functions
        return [name for name, one in functions.items() if one.uncrossable is None]


def _host(host: HostContext | None) -> HostContext:
    """Return the given host, or the default host if it is None."""
    if host is None:
        return default_host()
    require(isinstance(host, HostContext), "host", "a HostContext or None", host)
    return host


def _given(
    host: HostContext | None,
    function: str | None,
    values: Sequence[object],
    arguments: Sequence[object] | None,
) -> tuple[HostContext | None, str | None, tuple[object, ...]]:
    """Return the host, function, and arguments of `run`, whether passed by position or by name."""
    if values and isinstance(values[0], HostContext):
        host, rest = values[0], list(values[1:])
        refused = TypeError("after a host, run takes the function and a list of its arguments")
        if rest and function is None:
            first = rest.pop(0)
            if not isinstance(first, str | None):
                raise refused
            function = first
        if arguments is None:
            given = rest.pop(0) if rest else ()
            if rest or not isinstance(given, Sequence):
                raise refused
            return host, function, tuple(given)
        values = rest
    # Checking against an abstract class would take a tenth as long as a short run.
    if type(arguments) not in (list, tuple):
        are_values = isinstance(arguments, Iterable) and not isinstance(
            arguments, str | bytes | Mapping
        )
        require(are_values, "arguments", "a list of values, one for each argument", arguments)
    assert arguments is not None
    if values:
        raise TypeError("run takes the arguments by position, or as `arguments`")
    return host, function, tuple(arguments)
