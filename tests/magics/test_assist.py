"""Tab, Shift-Tab and a page's questions, in plain IPython."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from IPython.core.completer import provisionalcompleter

from tfrt_magics.assist import SERVICES, Assistant
from tfrt_runtime.host.context import HostContext

PROGRAM = (
    "func.func @main(%n: i32) -> i32 {\n  %six = tfrt.constant.i32 6\n  tfrt.return %s¦ix : i32\n}"
)


@pytest.fixture
def assistant(notebook) -> Assistant:
    return Assistant(notebook)


def split(text: str) -> tuple[str, int]:
    before, _, after = text.partition("¦")
    return before + after, len(before)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("%%tfrt --ti¦", {"--timeout"}),
        ("%%tfrt --emit b¦", {"bef"}),
        ("%%tfrt --emit=b¦", {"bef"}),
        (
            "%%tfrt --emit ¦\nfunc.func @main() {}",
            {"mlir", "bef", "async-runtime", "coroutine", "llvm", "llvm-split", "asm"},
        ),
        ("%%tfrt -q m¦", {"mstd", "mstd:2", "mstd:4"}),
        ("%%tfrt --in ¦\n" + PROGRAM.replace("¦", ""), {"n="}),
        ("%%tfrt -f ¦\n" + PROGRAM.replace("¦", ""), {"main"}),
        ("%%tfrt --with sh¦", {"shop"}),
        ("%%tfrt --with shop,¦", {"shop,shop"}),
        ("%%tfrt --host st¦", {"standby"}),
        ("%%tfrt -o ¦", set()),
        ("%%tfrt\n" + PROGRAM, {"%six"}),
        ("%%tfrt_check one\n" + PROGRAM, {"%six"}),
        ("%%tfrt --with shop\nfunc.func @main() {\n  %a = tfrt.call @pr¦\n}", {"@price"}),
        ("%tfrt file.mlir --time¦", {"--timeout"}),
        ("x = 1\n%tfrt_kernels tfrt.add.i3¦", {"tfrt.add.i32"}),
        ("%tfrt_graph sh¦", {"shop"}),
        ("%tfrt_graph --d¦", {"--dot"}),
        ("%tfrt_config ti¦", {"timeout="}),
    ],
)
def test_tab_offers_what_fits(cell, notebook, text: str, wanted: set[str]) -> None:
    cell("%%tfrt --as shop\nfunc.func @price(%n: i32) -> i32 { tfrt.return %n : i32 }")
    code, cursor = split(text)
    with HostContext("s") as notebook.user_ns["standby"], provisionalcompleter():
        found = list(notebook.Completer.completions(code, cursor))
    assert {one.text for one in found} == wanted or wanted == set()


def test_an_answer_in_words_is_no_program(assistant) -> None:
    wrong = "func.func @main() {\n  %a = tfrt.addd.i32\n}"
    assert assistant.lint("%%tfrt_check start.value\n%six = 42") == []
    assert assistant.complete("%%tfrt_check start.value\ntfrt.con", 32) is None
    assert {one["line"] for one in assistant.lint("%%tfrt_check start.write\n" + wrong)} == {3}
    assert assistant.complete("%%tfrt_check start.write\n" + wrong, 12) is None
    found = assistant.complete("%%tfrt_check start.write\n" + wrong, 59)
    assert found is not None and "tfrt.add.i32" in {text for text, _ in found[1]}


def test_python_is_completed_as_before(notebook, assistant) -> None:
    notebook.user_ns["ordinary"] = 1
    with provisionalcompleter():
        found = [one.text for one in notebook.Completer.completions("ordin", 5)]
    assert "ordinary" in found
    assert assistant.complete("ordin", 5) is None
    assert assistant.explain("ordin", 5) is None
    assert assistant.lint("x = 1") == []


@pytest.mark.parametrize(
    "text", ["  %q = tfrt.add.i32 %in", "  // in", '  "no.such', "  %q = nothing.in"]
)
def test_python_is_not_completed_in_a_program(notebook, assistant, text: str) -> None:
    notebook.user_ns["inner"] = 1
    cell = f"%%tfrt\nfunc.func @main() -> i32 {{\n{text}"
    with provisionalcompleter():
        assert [one.text for one in notebook.Completer.completions(cell, len(cell))] == []


def test_options_and_operations_are_explained(assistant) -> None:
    assert assistant.explain("%%tfrt --timeout 3\n", 11) == (
        "-t, --timeout SECONDS\n\ncancel what has not finished by then"
    )
    assert assistant.explain("%%tfrt --step\n", 11).startswith("--step\n")
    assert assistant.explain("%%tfrt --step\n", 4).startswith("usage: %%tfrt")
    assert "-q, --work-queue" in assistant.explain("%%tfrt -q s\n", 8)
    text, cursor = split("%%tfrt\n" + PROGRAM)
    assert assistant.explain(text, cursor) == "%six: i32\n\nline 3: %six = tfrt.constant.i32 6"


@pytest.mark.parametrize(
    ("line", "word", "message"),
    [
        ("%%tfrt -o x --wrok-queue s", "--wrok-queue", "did you mean --work-queue?"),
        ("%%tfrt -q s --slow=abc", "--slow=abc", "'abc' is not a factor above 0"),
        ("%%tfrt -q mstd:1 sums.mlir", "sums.mlir", "the program starts on the line below"),
        ("%%tfrt -o 'x", "-o 'x", "No closing quotation"),
    ],
)
def test_wrong_options_are_marked_once_there_is_a_program(assistant, line, word, message) -> None:
    (mark,) = assistant.lint(f"{line}\n{split(PROGRAM)[0]}")
    assert line[mark["col"] - 1 : mark["end"] - 1] == word
    assert (mark["line"], mark["sev"]) == (1, "error") and message in mark["msg"]
    assert assistant.lint(f"{line}\n") == []


@pytest.mark.parametrize("above", [0, 2])
def test_a_page_asks(assistant, above: int) -> None:
    text, cursor = split("\n" * above + "%%tfrt -q s\n" + PROGRAM)
    place = {"line": 3 + above, "col": 3, "length": 4}
    assert assistant.answer("definition", text, cursor) == place
    assert assistant.answer("complete", text, cursor) == {
        "start": cursor - 2,
        "items": [{"text": "%six", "type": "i32"}],
    }
    assert assistant.answer("lint", text, 0) == []
    wrong = text.replace("tfrt.constant", "tfrt.constan")
    (mark,) = assistant.answer("lint", wrong, 0)[:1]
    assert (mark["line"], mark["col"], mark["sev"]) == (3 + above, 10, "error")
    (mark,) = assistant.answer("lint", text.replace("-q", "-z"), 0)[:1]
    assert mark["line"] == 1 + above
    assert assistant.answer("nothing", text, 0) is None


@pytest.mark.parametrize("call", ["@pr¦ice", "¦@price", "@price¦"])
def test_a_function_of_an_earlier_cell_is_explained_and_found(cell, assistant, call: str) -> None:
    program = "func.func @price(%n: i32) -> i32 { tfrt.return %n : i32 }"
    cell("%%tfrt --as shop\n" + program)
    text, cursor = split(
        "%%tfrt --with shop\nfunc.func @main() {\n  %a = tfrt.call " + call + "()\n}"
    )
    assert assistant.explain(text, cursor) == (
        "@price  (i32) -> i32\n\nof the program shop, line 2: " + program
    )
    place = {"line": 2, "col": 11, "length": 6, "source": "\n" + program}
    assert assistant.answer("definition", text, cursor) == place
    unknown = text.replace("price", "prise")
    assert assistant.explain(unknown, cursor) is None
    assert assistant.definition(unknown, cursor) is None


def test_a_kernel_answers_by_its_comm_and_is_as_before_afterwards(notebook, assistant) -> None:
    targets: dict[str, object] = {}
    kernel = SimpleNamespace(
        comm_manager=SimpleNamespace(
            register_target=targets.__setitem__,
            unregister_target=lambda name, _: targets.pop(name),
        )
    )
    kernel.__dict__["asked"] = []

    class Kernel:
        comm_manager = kernel.comm_manager

        def do_inspect(self, code, cursor, detail_level=0):
            return "as before"

    there = Kernel()
    notebook.kernel = there
    try:
        assistant.install()
        text, cursor = split("%%tfrt\n" + PROGRAM)
        assert there.do_inspect(text, cursor)["found"]
        assert there.do_inspect("ordinary", 2) == "as before"
        sent, asked = [], []
        comm = SimpleNamespace(send=sent.append, on_msg=asked.append)
        targets[SERVICES](comm, {})
        data = {"id": 7, "ask": "hover", "text": text, "cursor": cursor}
        asked[0]({"content": {"data": data}})
        asked[0]({"content": {"data": {"ask": 3}}})
        assert sent[0]["id"] == 7
        assert sent[0]["answer"].startswith("%six: i32")
        assert sent[1]["answer"] is None
        assistant.uninstall()
        assert (there.do_inspect(text, cursor), targets) == ("as before", {})
    finally:
        del notebook.kernel
