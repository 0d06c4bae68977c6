"""Run the conformance corpus by the command line: what programs print, and how they fail.

`golden/tfrt/INDEX.tsv` says what the reference does with each item, and how much of that may vary.
Everything runs through `main`, in this process.
"""

from __future__ import annotations

import csv
import re
import subprocess
import sysconfig
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.tfrt_nb.source.test_golden import OUR_WORDS

from tfrt_nb.cli.main import main
from tfrt_runtime.bef.reader import BefFile

GOLDEN = Path(__file__).parent / "golden" / "tfrt"

DEVIATIONS = {
    "tensor_coo": (
        # The reference mixes up rows and columns of a tensor that is not square.
        "shape = [2, 4], indices = [0, 1, 1, 1, 2, 0, 3, 1]",
        "shape = [2, 4], indices = [0, 1, 0, 3, 1, 0, 1, 3]",
    ),
}
"""Programs that deviate from the reference on purpose: its output, and the right output."""


@dataclass(frozen=True, slots=True)
class Item:
    """A row of the index."""

    name: str
    kind: str
    repeat_s: str
    repeat_mstd2: str
    stdout_may_vary: str

    def text(self, suffix: str) -> str:
        """Return the content of one of the item's files."""
        return (GOLDEN / f"{self.name}.{suffix}").read_text()

    def has(self, suffix: str) -> bool:
        """Return whether the item has such a file."""
        return (GOLDEN / f"{self.name}.{suffix}").exists()

    def outputs(self) -> list[str]:
        """Return possible outputs of the program: a later version of the reference may differ."""
        suffixes = ["stdout", "stdout_later"] if self.has("stdout_later") else ["stdout"]
        wrong, right = DEVIATIONS.get(self.name, ("", ""))
        return [self.text(suffix).replace(wrong, right) for suffix in suffixes]


def read_index() -> list[Item]:
    with (GOLDEN / "INDEX.tsv").open() as lines:
        rows = csv.DictReader(lines, delimiter="\t")
        columns = Item.__dataclass_fields__
        return [Item(**{name: row[name] for name in columns}) for row in rows]


INDEX = read_index()
RUN = [item for item in INDEX if item.kind == "run"]
REFUSED_BY_THE_TRANSLATOR = [item for item in INDEX if item.kind == "reject-translate"]
REFUSED_BY_THE_DRIVER = [item for item in INDEX if item.kind == "reject-run"]
MALFORMED = [item for item in INDEX if item.kind == "malformed"]


def by_name(items: list[Item]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("item", items, ids=lambda item: item.name)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a command."""

    status: int
    stdout: str
    stderr: str


class CommandLine:
    """Runs `tfrt-nb` in this process."""

    def __init__(self, capture: pytest.CaptureFixture[str]) -> None:
        self._capture = capture

    def __call__(self, *arguments: str | Path) -> Outcome:
        status = main([str(argument) for argument in arguments])
        captured = self._capture.readouterr()
        return Outcome(status, captured.out, captured.err)


@pytest.fixture
def tfrt_nb(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    """The command line in the corpus's folder, because locations name files relative to it."""
    monkeypatch.chdir(GOLDEN)
    return CommandLine(capsys)


# --- programs that run ---


def without_what_varies(item: Item, text: str) -> str:
    """Replace a benchmark's times and addresses, which differ between runs."""
    if item.stdout_may_vary != "always":
        return text
    text = re.sub(r"pointer=0x[0-9a-f]+", "pointer=...", text)
    return re.sub(r"^(BM:.*:(?!Count)[^:]*): .*$", r"\1: ...", text, flags=re.MULTILINE)


def same_lines(text: str) -> list[str]:
    return sorted(text.splitlines())


def assert_prints(item: Item, printed: str, *, any_order: bool) -> None:
    """Check that `printed` is what the corpus says; with `any_order`, lines may be in any order."""
    expected = [without_what_varies(item, text) for text in item.outputs()]
    printed = without_what_varies(item, printed)
    if any_order:
        assert same_lines(printed) in [same_lines(text) for text in expected]
    else:
        assert printed in expected


@pytest.mark.parametrize("suffix", ["mlir", "bef"])
@by_name(RUN)
def test_prints_what_the_reference_prints(item: Item, suffix: str, tfrt_nb: CommandLine) -> None:
    outcome = tfrt_nb("run", "--work-queue", "s", "--timeout", "20", f"{item.name}.{suffix}")

    # Prints that no chain orders follow the queue's order, which depends on the implementation.
    assert_prints(item, outcome.stdout, any_order=item.stdout_may_vary == "threaded-queue-only")
    assert outcome.status == (1 if item.name == "locations" else 0)


@by_name(RUN)
def test_prints_the_same_with_two_workers(item: Item, tfrt_nb: CommandLine) -> None:
    outcome = tfrt_nb("run", "--work-queue", "mstd:2", "--timeout", "20", f"{item.name}.bef")

    assert_prints(item, outcome.stdout, any_order=item.repeat_mstd2 != "same")
    assert outcome.status == (1 if item.name == "locations" else 0)


def test_each_deviation_is_one() -> None:
    printed = {name: (GOLDEN / f"{name}.stdout").read_text() for name in DEVIATIONS}

    assert [name for name, (wrong, _) in DEVIATIONS.items() if wrong not in printed[name]] == []


@by_name([item for item in RUN if item.has("diag")])
def test_errors_are_raised_in_the_reference_s_order_and_places(
    item: Item, tfrt_nb: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = GOLDEN / f"{item.name}.bef"
    monkeypatch.chdir(tmp_path)  # without its source, all errors of a file are unexpected
    outcome = tfrt_nb("run", "--work-queue", "s", file)

    raised = [line.replace("error: unexpected error: ", "") for line in outcome.stderr.splitlines()]
    assert raised == item.text("diag").splitlines()
    assert outcome.status == 1


def test_the_installed_command_does_what_main_does() -> None:
    script = Path(sysconfig.get_path("scripts"), "tfrt-nb")
    command = [script, "run", "chains.mlir"]
    process = subprocess.run(
        command, cwd=GOLDEN, capture_output=True, text=True, timeout=60, check=False
    )

    expected = (GOLDEN / "chains.stdout").read_text()
    assert (process.returncode, process.stdout, process.stderr) == (0, expected, "")


# --- to BEF and back ---


@by_name([item for item in INDEX if item.has("bef_to_mlir")])
def test_disassembles_to_the_reference_s_text(item: Item, tfrt_nb: CommandLine) -> None:
    outcome = tfrt_nb("bef-to-mlir", f"{item.name}.bef")

    assert (outcome.status, outcome.stderr) == (0, "")
    assert outcome.stdout.rstrip() == item.text("bef_to_mlir").rstrip()


@by_name([item for item in INDEX if item.has("bef_to_mlir_error")])
def test_disassembles_what_the_reference_cannot(
    item: Item, tfrt_nb: CommandLine, tmp_path: Path
) -> None:
    text = tfrt_nb("bef-to-mlir", f"{item.name}.bef").stdout
    (tmp_path / "again.mlir").write_text(text)
    outcome = tfrt_nb("run", "--work-queue", "s", "--timeout", "20", tmp_path / "again.mlir")

    any_order = item.stdout_may_vary == "threaded-queue-only"
    assert_prints(item, outcome.stdout, any_order=any_order)


# --- refused ---

HEADLINE = re.compile(r"(?P<place>\S+:\d+:\d+|<unknown>:0|\S+): error: (?P<message>.*)")
NOTE = re.compile(HEADLINE.pattern.replace("error", "note"))


def first_error(text: str) -> tuple[str, str]:
    """Return the place and the message of the first error in printed diagnostics."""
    match = HEADLINE.search(text)
    assert match is not None, text
    return match["place"], match["message"]


PLACES = {"reject_wrong_literal": "reject_wrong_literal.mlir:2:26"}
"""The place of the number; the reference points at the line below it."""

ACCEPTED = {"reject_nonstrict_attr"}
"""The reference no longer has non-strict kernels, which the seed describes; here, they exist."""


@by_name([item for item in REFUSED_BY_THE_TRANSLATOR if item.name not in ACCEPTED])
@pytest.mark.parametrize("command", ["mlir-to-bef", "run"])
def test_is_refused_where_and_why_the_reference_refuses_it(
    item: Item, command: str, tfrt_nb: CommandLine
) -> None:
    place, reason = first_error(item.text("error"))
    outcome = tfrt_nb(command, f"{item.name}.mlir")

    assert (outcome.status, outcome.stdout) == (1, "")
    expected = PLACES.get(item.name, place), OUR_WORDS.get(item.name, reason)
    # Our own sentence may come first; the recorded words are then a note at the same place.
    assert first_error(outcome.stderr)[0] == expected[0]
    assert expected in [first_error(outcome.stderr), *NOTE.findall(outcome.stderr)]


def test_a_nonstrict_kernel_can_be_compiled(tfrt_nb: CommandLine, tmp_path: Path) -> None:
    file = tmp_path / "out.bef"
    outcome = tfrt_nb("mlir-to-bef", "reject_nonstrict_attr.mlir", "-o", file)

    assert outcome == Outcome(0, "", "")
    [function] = BefFile.load(file.read_bytes()).functions
    assert [kernel.is_nonstrict for kernel in function.kernels] == [True]


CRASHES = {
    "reject_async_kernel_in_sync": (
        "reject_async_kernel_in_sync.mlir:2:8",
        "asynchronous kernel 'tfrt.constant.i32' in sync function 'f'",
    ),
    "reject_case_out_of_range": (
        "reject_case_out_of_range.mlir:7:12",
        "branch_index invalid. branch index: 5 # branches: 2",
    ),
    "reject_repeat_negative": (
        "reject_repeat_negative.mlir:4:8",
        "the number of iterations is negative: -4",
    ),
    "reject_sync_kernel_in_async": (
        "reject_sync_kernel_in_async.mlir:2:8",
        "sync kernel 'tfrt.constant_s.i64' in asynchronous function 'f'",
    ),
}
"""Programs that kill the reference with a signal, and the diagnostics that they get here."""

BETTER = {
    "reject_unknown_kernel_unlocated": (
        "reject_unknown_kernel_unlocated.mlir:3:8",
        "unknown kernel name 'golden.unheard_of'",
    ),
    "reject_unknown_native": (
        "<unknown>:0",
        (
            "invalid FunctionIndex section in BEF file: unable to find native function in global"
            " registry: native_of_unknown_name"
        ),
    ),
}
"""Diagnostics that say more than the reference's."""

PREFIX = "unexpected error: runtime error: "


@by_name([item for item in REFUSED_BY_THE_DRIVER if item.name != "reject_missing_expectation"])
@pytest.mark.parametrize("suffix", ["mlir", "bef"])
def test_ends_with_a_diagnostic(item: Item, suffix: str, tfrt_nb: CommandLine) -> None:
    own = CRASHES.get(item.name) or BETTER.get(item.name)
    expected = (own[0], PREFIX + own[1]) if own else first_error(item.text("error"))
    outcome = tfrt_nb("run", f"{item.name}.{suffix}")

    assert outcome.status == 1
    assert first_error(outcome.stderr) == expected


def test_a_wrong_expectation_is_reported_at_its_comment(tfrt_nb: CommandLine) -> None:
    outcome = tfrt_nb("run", "reject_wrong_expectation.mlir")

    assert HEADLINE.findall(outcome.stderr) == [
        ("reject_wrong_expectation.mlir:2:8", PREFIX + "something bad happened"),
        (
            "reject_wrong_expectation.mlir:2:42",
            'expected error "another text" was not produced',
        ),
    ]


def test_an_expectation_counts_only_once_some_error_was_raised(tfrt_nb: CommandLine) -> None:
    outcome = tfrt_nb("run", "reject_missing_expectation.mlir")

    assert outcome == Outcome(0, "--- Running 'f':\n'f' returned 1\n", "")


# --- malformed files ---

LOADS = {"malformed_unknown_section_eight_bytes"}

OWN_REASONS = {
    # Here, the reference crashes, hangs, or omits the function without a message.
    "malformed_argument_register_out_of_range": "invalid Functions section in BEF file",
    "malformed_callee_out_of_range": "invalid Functions section in BEF file",
    "malformed_function_kind_unknown": "invalid FunctionIndex section in BEF file",
    "malformed_kernel_code_out_of_range": "invalid Functions section in BEF file",
    "malformed_result_register_out_of_range": "invalid Functions section in BEF file",
}


@by_name([item for item in MALFORMED if item.name not in LOADS])
def test_a_malformed_file_is_refused_with_one_diagnostic(item: Item, tfrt_nb: CommandLine) -> None:
    reason = OWN_REASONS.get(item.name) or first_error(item.text("error"))[1].removeprefix(PREFIX)
    outcome = tfrt_nb("run", f"{item.name}.bef")

    assert (outcome.status, outcome.stdout) == (1, "")
    [line] = outcome.stderr.splitlines()
    assert reason in line
    assert item.name in line or PREFIX in line


@by_name(
    [item for item in MALFORMED if item.name not in {*LOADS, "malformed_function_kind_native"}]
)
def test_the_disassembler_refuses_it_as_well(item: Item, tfrt_nb: CommandLine) -> None:
    loaded, disassembled = (
        tfrt_nb("run", f"{item.name}.bef"),
        tfrt_nb("bef-to-mlir", f"{item.name}.bef"),
    )

    assert disassembled == loaded


def test_an_unknown_section_is_skipped(tfrt_nb: CommandLine) -> None:
    base = tfrt_nb("run", "malformed_base.bef")
    skipped = tfrt_nb("run", "malformed_unknown_section_eight_bytes.bef")

    assert skipped == base
