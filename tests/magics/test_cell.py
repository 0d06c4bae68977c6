"""Test `%%tfrt` in plain IPython, on a host that the test controls."""

from __future__ import annotations

import gc
import pickle
import signal
import threading
import traceback
from collections.abc import Iterator

import pytest
from IPython.core.interactiveshell import InteractiveShell

from tfrt_magics import extension
from tfrt_magics.bridge.job import Job
from tfrt_magics.bridge.snapshot import Status
from tfrt_magics.cell import RunInterrupted, follow, interrupts_noticed
from tfrt_magics.session import Session
from tfrt_runtime.diagnostics import Diagnostic, Location, Severity, TfrtError, error
from tfrt_runtime.host.context import HostContext
from tfrt_runtime.host.default_host import set_default_host
from tfrt_runtime.kernels.users.user import kernel

PROGRAM = "func @main() -> i32 {\n  tfrt.return %a : i32\n}\n"


@pytest.fixture
def host(fake):
    run = fake.one_result_run("%a", over=True)
    run.resolve("%a", "3")
    run.resolve("result", 3)
    return fake.Host(run)


@pytest.fixture
def shell(host, fake, monkeypatch, request) -> InteractiveShell:
    """IPython with the extension loaded, on the fake host and compiler."""
    monkeypatch.setattr(
        extension, "Session", lambda **settings: Session(lambda *_: host, fake.compile, **settings)
    )
    return request.getfixturevalue("notebook")


def run(shell: InteractiveShell, line: str, program: str = PROGRAM) -> object:
    """Run a cell; return the exception that ended it, if any."""
    return shell.run_cell(f"%%tfrt {line}\n{program}").error_in_exec


def test_a_cell_prints_its_table_and_binds_its_result(shell, host, capsys) -> None:
    assert run(shell, "-o three") is None
    output = capsys.readouterr().out
    assert output.startswith("● @main: done, 1 of 1 values")
    assert "● available  %a      3  i32" in output
    assert shell.user_ns["three"] is host.runs[0].results[0]


FIRST = "%%tfrt must be the first line of its cell"


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        (f"%tfrt\n{PROGRAM}", "%tfrt runs a file: write %%tfrt, with two '%', above a program"),
        (f"%tfrt -q s\n\n{PROGRAM}", "%tfrt runs a file: write %%tfrt, with two '%', above a"),
        (PROGRAM, "this is a program: begin its cell with the line %%tfrt"),
        (f"module {{\n{PROGRAM}}}\n", "this is a program: begin its cell with the line %%tfrt"),
        (f"# my program\n%%tfrt\n{PROGRAM}", FIRST),
        (f"// my program\n\n%%tfrt -q s\n{PROGRAM}", FIRST),
        (f"%load_ext tfrt_nb\nimport math\n%%tfrt\n{PROGRAM}", FIRST),
        ("x = 1\n%%tfrt_check values\ntwo", "%%tfrt_check must be the first line of its cell"),
    ],
)
def test_a_program_in_a_cell_of_python_is_refused(shell, capsys, cell: str, said: str) -> None:
    assert not shell.run_cell(cell).success
    assert f"UsageError: {said}" in capsys.readouterr().err


@pytest.mark.parametrize("above", ["%%tfrt\n", "", "# a comment\n"])
def test_a_program_in_a_string_of_python_is_left_alone(shell, above: str) -> None:
    assert shell.run_cell(f'program = """\n{above}{PROGRAM}"""\n').success
    assert shell.user_ns["program"] == f"\n{above}{PROGRAM}"
    assert shell.check_complete(f"%tfrt\n{PROGRAM}")[0] == "invalid"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (
            "%%tfrt --functoin f\n",
            "UsageError: %%tfrt: unknown option --functoin; did you mean --function?\n",
        ),
        ("%%tfrt --\u202eabc\x1b[31m\n", "unknown option --\\u202eabc\\u001b[31m"),
        ("%%tfrt -q 'm\u2066'\n", "unknown work queue 'm\\u2066'"),
        ("%tfrt \u202eabc.mlir", "cannot read '\\u202eabc.mlir'"),
        ("%tfrt 'a\x00b'", "'a\\u0000b' is not a file name"),
        ("%tfrt_reset all\u202e", "%tfrt_reset takes no arguments, found 'all\\u202e'"),
        ("%tfrt_trace --json", "%tfrt_trace: expected a file name, found --json"),
        ("%%tfrt --memory 0\n", "memory '0': expected at least 1M"),
        ("%tfrt_leaks 3", "%tfrt_leaks takes no arguments, found '3'"),
        ("%tfrt_config timeout=-1", "%tfrt_config: timeout=-1: should not be less than 0.0"),
    ],
)
def test_a_wrong_line_is_one_line_in_which_what_one_cannot_see_is_escaped(
    shell, capsys, line: str, said: str
) -> None:
    shell.run_cell(line + PROGRAM if line.startswith("%%") else line)
    output = capsys.readouterr()
    shown = output.err + output.out
    assert said in shown
    assert "Traceback" not in shown


def test_an_error_of_the_compiler_shows_its_line_and_leaves_the_name_alone(shell, capsys) -> None:
    shell.user_ns["kept"] = 1
    shell.execution_count = 7 + shell.execution_count - shell.displayhook.prompt_count
    run(shell, "-o kept", "func @main() {\n  oops.op\n}\n")
    captured = capsys.readouterr()
    assert captured.err == (
        "cell 7:3:3: error: no such operation: oops\n    oops.op\n    ^^^^^^^\n"
    )
    assert captured.out == "TfrtError: no such operation: oops – cell 7, line 3\n"
    assert shell.user_ns["kept"] == 1


@pytest.mark.parametrize(
    ("above", "line"), [("%%tfrt", 3), ("\n  \n%%tfrt", 5), ("%%time\n\n%%tfrt -q s", 5)]
)
def test_places_count_the_lines_of_the_cell_as_its_editor_does(shell, capsys, above, line) -> None:
    shell.run_cell(f"{above}\nfunc @main() {{\n  oops.op\n}}\n\n")
    assert f":{line}:3: error: no such operation: oops\n" in capsys.readouterr().err


def test_an_error_of_the_run_shows_its_line_and_binds_the_name(shell, host, capsys) -> None:
    shell.execution_count = 7 + shell.execution_count - shell.displayhook.prompt_count
    problem = error("Divide by zero", Location("cell 7", 3, 3))
    host.runs[0].diagnostics.append(problem)
    host.runs[0].resolve("result", TfrtError(problem), state="error")
    raised = run(shell, "-o bad")
    captured = capsys.readouterr()
    assert isinstance(raised, TfrtError) and raised.diagnostics == (problem,)
    assert "▲ error      result  Divide by zero  i32" in captured.out
    assert captured.out.endswith("\nTfrtError: Divide by zero – cell 7, line 3\n")
    assert captured.err == (
        "cell 7:3:3: error: Divide by zero\n    tfrt.return %a : i32\n    ^^^^^^^^^^^\n"
    )
    assert shell.user_ns["bad"].state == "error"


def failing(fake, host) -> None:
    """Make the next run fail."""
    problem = error("Divide by zero", Location("cell 1", 3, 3))
    host.runs[0].diagnostics.append(problem)
    host.runs[0].resolve("result", TfrtError(problem), state="error")


def test_an_error_that_is_expected_or_shown_fails_no_cell(shell, fake, host, capsys) -> None:
    failing(fake, host)
    assert run(shell, "--expect-error") is None
    shell.run_line_magic("tfrt_config", "errors=show")
    assert run(shell, "", "oops") is None
    assert run(shell, "-f mian") is None
    assert capsys.readouterr().err.count("error: ") == 3


def test_an_expected_error_that_does_not_come_fails_the_cell(shell, host, capsys) -> None:
    assert str(run(shell, "--expect-error -o three")) == (
        "--expect-error: there was no error; remove the option"
    )
    assert "● @main: done" in capsys.readouterr().out
    assert "three" in shell.user_ns


def test_a_warning_fails_no_cell(shell, host) -> None:
    host.runs[0].diagnostics.append(Diagnostic(Severity.WARNING, "a token is left over"))
    assert run(shell, "") is None


def test_a_run_that_is_not_waited_for_fails_no_cell(shell, fake, host) -> None:
    failing(fake, host)
    assert run(shell, "--no-wait") is None
    assert isinstance(run(shell, "--no-wait", "oops"), TfrtError)  # it never ran


@pytest.mark.parametrize("status", ["timed out after 0.01 s; @main was still", "cancelled by it"])
def test_a_run_that_was_stopped_is_a_failed_cell(shell, host, status: str) -> None:
    host.runs[0] = type(host.runs[0])(host.runs[0].results, stuck=True)
    host.runs[0].results[0].state = "unavailable"
    if status.startswith("cancelled"):
        threading.Timer(0.1, lambda: shell_job(shell).cancel("cancelled by its button")).start()
    assert str(run(shell, "--timeout 0.01" if "timed" in status else "")).startswith(status)


def shell_job(shell: InteractiveShell) -> Job:
    """Return the job of the last cell."""
    return shell.find_cell_magic("tfrt").__self__._session.last_run.job


def test_every_error_is_counted_and_the_program_is_not_kept(shell, fake) -> None:
    def compile_wrong(*_, **__):
        raise TfrtError(error("one\n two", Location("f.mlir", 0, 0)), error("two"), error("three"))

    shell.find_cell_magic("tfrt").__self__._session._compile = compile_wrong
    raised = run(shell, "")
    assert str(raised) == "one – f.mlir, and 2 more errors"
    kept = [frame.f_locals for frame, _ in traceback.walk_tb(raised.__traceback__)]
    assert not [one for one in kept if "program" in one or "job" in one]


def test_code_catches_what_a_cell_raises(shell, fake, host, capsys) -> None:
    failing(fake, host)
    with pytest.raises(TfrtError) as caught:
        shell.run_cell_magic("tfrt", "", PROGRAM)
    assert caught.value.diagnostics[0].message == "Divide by zero"
    assert type(pickle.loads(pickle.dumps(caught.value))) is type(caught.value)
    capsys.readouterr()
    shell.run_cell(f"get_ipython().run_cell_magic('tfrt', '', {PROGRAM + 'oops'!r})")
    shell.run_line_magic("tb", "")
    assert capsys.readouterr().out.count("TfrtError: no such operation: oops – cell ") == 2


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("-f mian", "error: there is no function @mian\nnote: did you mean @main?\n"),
        ("-f xyz", "error: there is no function @xyz\nnote: the program has @main\n"),
    ],
)
def test_a_function_that_is_not_there_is_named(shell, capsys, line, message) -> None:
    run(shell, line)
    captured = capsys.readouterr()
    assert captured.err == message
    assert f"error: {captured.out[len('TfrtError: ') :]}" == message[: message.index("note")]


def test_not_waiting_returns_at_once_with_the_value(shell, host, capsys) -> None:
    host.runs[0].over.clear()
    run(shell, "--no-wait -o later")
    assert capsys.readouterr().out == "@main runs in the background\n"
    assert shell.user_ns["later"] is host.runs[0].results[0]


def test_unloading_cancels_what_runs_and_closes_the_host(shell, host) -> None:
    host.runs[0].over.clear()
    run(shell, "--no-wait")
    shell.run_line_magic("unload_ext", "tfrt_nb")
    assert (host.runs[0].cancelled, host.is_closed) == (True, True)
    assert "tfrt" not in shell.magics_manager.magics["cell"]


def test_what_runs_as_the_kernel_ends_says_that_it_is_gone(fake, host) -> None:
    host.runs[0].over.clear()
    session = Session(lambda *_: host, fake.compile)
    job = session.job(fake.Program(), fake.Program().functions, "s", None)
    job.start()
    job.wait_for_results()
    session.leave()
    assert (host.runs[0].cancelled, host.is_closed) == (True, True)
    assert (job.snapshot().status, job.snapshot().note) == (Status.KERNEL_GONE, "")


def test_reset_closes_the_hosts(shell, host, capsys) -> None:
    run(shell, "")
    shell.run_line_magic("tfrt_reset", "")
    assert host.is_closed


def test_reset_leaves_the_results_of_finished_runs_readable(cell, notebook) -> None:
    cell(f"%%tfrt{SEVEN}")
    notebook.run_cell("held = _")
    held = notebook.user_ns["held"]
    found = held.results, held.result(), dict(held.functions)
    cell("%tfrt_reset")
    assert (held.results, held.result(), held.functions) == found
    assert len(held.results) == 1


def test_braces_and_percent_signs_are_left_to_mlir(shell, capsys) -> None:
    shell.user_ns["main"] = "expanded"
    run(shell, "", "func @main() -> i32 { // {main} $main\n}\n")
    assert "@main: done" in capsys.readouterr().out


def test_the_work_queue_can_be_configured(shell, capsys) -> None:
    shell.run_line_magic("config", "TFRT.work_queue = 's'")
    run(shell, "")
    assert ", on s\n" in capsys.readouterr().out
    shell.run_line_magic("config", "TFRT.work_queue = 'many'")
    run(shell, "")
    assert capsys.readouterr().out == (
        "TfrtError: unknown work queue 'many': expected s, mstd, mstd:N or mstd:N,B\n"
    )


def test_help_lists_the_options_and_examples(shell) -> None:
    help_text = shell.find_cell_magic("tfrt").__doc__
    assert "-q QUEUE, --work-queue QUEUE" in help_text
    assert "%%tfrt --function main -o total" in help_text


class Interrupting:
    """An outlet that interrupts the kernel, like a user, as soon as the board is shown."""

    def __init__(self) -> None:
        self.finished: list[str] = []

    def watch(self, job: Job) -> None:
        signal.raise_signal(signal.SIGINT)

    def finish(self, job: Job) -> None:
        self.finished.append(job.snapshot().status)


@pytest.mark.parametrize("stuck", [False, True])
def test_an_interrupt_cancels_the_run_and_is_one_line(fake, stuck: bool) -> None:
    hanging = fake.one_result_run("%a", stuck=stuck)
    job = Job(fake.Host(hanging), fake.Program().functions)
    outlet = Interrupting()
    interruption = follow(job, outlet)

    assert isinstance(interruption, RunInterrupted)
    assert interruption._render_traceback_() == [
        "%%tfrt: interrupted; @main was still waiting for %a"
    ]
    assert (outlet.finished, hanging.cancelled) == (["cancelled"], True)
    hanging.over.set()


def test_what_was_begun_is_finished_and_each_interrupt_is_noticed() -> None:
    with interrupts_noticed() as interrupts:
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)

    assert len(interrupts) == 2


def test_afterwards_an_interrupt_is_what_it_was_before() -> None:
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(ValueError, match="first"), interrupts_noticed():
        raise ValueError("first")
    assert signal.getsignal(signal.SIGINT) is before


def test_other_threads_are_left_alone() -> None:
    done = []

    def work() -> None:
        with interrupts_noticed():
            done.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert done == [signal.getsignal(signal.SIGINT)]


SEVEN = "\nfunc.func @main() -> i32 {\n  %a = tfrt.constant.i32 7\n  tfrt.return %a : i32\n}"


@pytest.fixture
def hosts(notebook) -> Iterator[dict[str, HostContext]]:
    """A default host and two others, by the notebook's names for them."""
    with HostContext("s") as default, HostContext("mstd:3") as large, HostContext("s") as closed:
        closed.close()
        found = {"default": default, "large": large, "closed": closed}
        notebook.user_ns |= found
        set_default_host(default)
        yield found
        set_default_host(None)


def test_a_cell_runs_on_the_users_host(cell, hosts) -> None:
    assert ", on s\n" in cell(f"%%tfrt{SEVEN}")
    assert ", on mstd:3\n" in cell(f"%%tfrt --host large{SEVEN}")
    assert ", on mstd:2\n" in cell(f"%%tfrt -q mstd:2{SEVEN}")
    hosts["default"].close()
    assert ", on mstd:" in cell(f"%%tfrt{SEVEN}")


def test_a_file_runs_on_the_users_host(cell, hosts, tmp_path) -> None:
    file = tmp_path / "seven.mlir"
    file.write_text(SEVEN)
    assert ", on mstd:3\n" in cell(f"%tfrt {file} --host large")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("--host larg", "--host larg: no HostContext has that name; did you mean large?"),
        ("--host nothing", "has that name; hosts are closed, default, large"),
        (
            "--host get_ipython",
            "--host get_ipython is of type method, which is no HostContext; hosts",
        ),
        ("--host closed", "TfrtError: --host closed: the host is closed\n"),
        ("--host large -q s", "--host and --work-queue exclude each other: the host has its own"),
        ("--host large --memory 1G", "exclude each other: the host has its own budget"),
        (
            "--host large --step",
            "--host and --step exclude each other: --step does not run on a host",
        ),
        ("--memory 1G", "the default host has its own budget; tfrt.default_host().set_memory(...)"),
    ],
)
def test_a_line_that_fits_no_host_of_the_user_says_why(cell, hosts, line: str, said: str) -> None:
    assert said in cell(f"%%tfrt {line}{SEVEN}")


def test_what_ends_cells_leaves_the_users_host_open_and_empty(cell, notebook, hosts) -> None:
    never = threading.Event()
    kernel("hosts.wait", blocking=True)(lambda: never.wait(60))
    waits = (
        '\nfunc.func @main() -> !tfrt.chain {\n  %c = "hosts.wait"() : () -> !tfrt.chain\n  '
        "tfrt.return %c : !tfrt.chain\n}"
    )
    assert "timed out after 0.1 s" in cell(f"%%tfrt --host large -t 0.1{waits}")
    cell(f"%%tfrt --host large --no-wait{waits}")
    cell("%tfrt_reset")
    never.set()
    large = hosts["large"]
    assert large.quiesce(60) and not large.was_closed
    assert ", on mstd:3\n" in cell(f"%%tfrt --host large{SEVEN}")
    cell("%tfrt_reset")
    notebook.reset()  # the cells' runs, which `_` and Out[n] hold
    gc.collect()
    assert large.live_values() == 0


def test_a_remote_kernel_without_a_cluster_is_an_error_that_says_what_to_write(cell, hosts) -> None:
    kernel("hosts.far", remote=True)(lambda x: x + 1)
    far = SEVEN.replace(
        "\n  tfrt.return %a", '\n  %b = "hosts.far"(%a) : (i32) -> i32\n  tfrt.return %b'
    )
    said = cell(f"%%tfrt --host large{far}")
    assert "4:8: error: remote kernel 'hosts.far' runs on a cluster, but this cell's" in said
    assert "host = tfrt.HostContext(tfrt.DaskWorkQueue(client))\n" in said
    assert "%%tfrt --host host; or every cell: tfrt.set_default_host(host)\n" in said


TWO = """func.func @main() -> (i32, i32) {
  %low = tfrt.constant.i32 3
  %high = tfrt.constant.i32 4
  tfrt.return %low, %high : i32, i32
}"""


def test_several_names_take_a_result_each(notebook) -> None:
    shell = notebook
    assert run(shell, "-o low,high", TWO) is None
    assert (shell.user_ns["low"].result(), shell.user_ns["high"].result()) == (3, 4)
    assert "-o a,b,c: @main has 2 results" in str(run(shell, "-o a,b,c", TWO))
