"""Test Tab, Shift-Tab, and a page's questions, in plain IPython."""

from __future__ import annotations

import pytest
from IPython.core.completer import provisionalcompleter

from tfrt_magics.assist import Assistant
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


def ask(assistant: Assistant, what: str, text: str, cursor: int = 0):
    """Return the answer that a page gets."""
    return assistant.answer({"ask": what, "text": text, "cursor": cursor})["answer"]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("%%tfrt --ti¦", {"--timeout"}),
        ("%%tfrt --emit b¦", {"bef"}),
        ("%%tfrt --emit=b¦", {"bef"}),
        (
            "%%tfrt --emit ¦\nfunc.func @main() {}",
            {"mlir", "bef", "dot", "async-runtime", "coroutine", "llvm", "llvm-split", "asm"},
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


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("--in x=da¦", {"data"}),
        ("--in x=¦", {"data", "count", "typed"}),
        ("--in=x=cou¦", {"count"}),
        ("--in 'x=count + da¦", {"data"}),
        ("--in x='count + da¦", {"data"}),
        ("-q s --in y=1 --in x=le¦", {"len"}),
        ("--in x=data.imag¦", {"data.imag"}),
        ("--in x=count*data.ima¦", {"data.imag"}),
        ("--in x=data.¦", {"data.imag", "data.real"}),
        ("--with ty¦", {"typed"}),
    ],
)
@pytest.mark.parametrize("magic", ["%%tfrt ", "y = 1\n%tfrt sum.mlir "])
def test_tab_offers_names_of_the_notebook_in_an_expression(notebook, magic, line, wanted) -> None:
    notebook.user_ns |= {"data": 2.5, "count": 3, "_mine": 1}
    notebook.run_cell("import tfrt_nb as tfrt\n@tfrt.program\ndef typed(x: tfrt.i32):\n  return x")
    code, cursor = split(magic + line)
    with provisionalcompleter():
        found = {one.text for one in notebook.Completer.completions(code, cursor)}
    assert wanted <= found
    assert found & {"_mine", "In", "--timeout", "%%tfrt", "get_ipython"} == set()
    if "len" not in wanted and not line.endswith("=¦"):
        assert found & {"print", "len"} == set()


def test_an_answer_that_is_a_literal_is_no_program(assistant) -> None:
    wrong = "func.func @main() {\n  %a = tfrt.addd.i32\n}"
    assert assistant.lint("%%tfrt_check start.value\n%six = 42") == []
    assert assistant.complete("%%tfrt_check start.value\ntfrt.con", 32) is None
    assert {one["line"] for one in assistant.lint("%%tfrt_check start.write\n" + wrong)} == {3}
    assert assistant.complete("%%tfrt_check start.write\n" + wrong, 12) is None
    found = assistant.complete("%%tfrt_check start.write\n" + wrong, 59)
    assert found is not None and "tfrt.add.i32" in {one.text for one in found[1]}


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
        "-t, --timeout SECONDS\n\ncancel the run if it takes longer than this"
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
    assert ask(assistant, "definition", text, cursor) == place
    assert ask(assistant, "complete", text, cursor) == {
        "start": cursor - 2,
        "items": [{"text": "%six", "kind": "value", "type": "i32"}],
    }
    assert ask(assistant, "lint", text) == []
    wrong = text.replace("tfrt.constant", "tfrt.constan")
    (mark,) = ask(assistant, "lint", wrong)[:1]
    assert (mark["line"], mark["col"], mark["sev"]) == (3 + above, 10, "error")
    (mark,) = ask(assistant, "lint", text.replace("-q", "-z"))[:1]
    assert mark["line"] == 1 + above
    assert ask(assistant, "hover", text, cursor).startswith("%six: i32")
    assert ask(assistant, "nothing", text) is None
    assert assistant.answer({"ask": 3}) == {"answer": None}


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
    assert ask(assistant, "definition", text, cursor) == place
    unknown = text.replace("price", "prise")
    assert assistant.explain(unknown, cursor) is None
    assert assistant.definition(unknown, cursor) is None


def test_a_kernel_is_as_before_afterwards(notebook, assistant) -> None:
    class Kernel:
        def do_inspect(self, code, cursor, detail_level=0):
            return "as before"

    there = notebook.kernel = Kernel()
    try:
        assistant.install()
        text, cursor = split("%%tfrt\n" + PROGRAM)
        assert there.do_inspect(text, cursor)["found"]
        assert there.do_inspect("ordinary", 2) == "as before"
        assistant.uninstall()
        assert there.do_inspect(text, cursor) == "as before"
    finally:
        del notebook.kernel


def test_uses_new_names_and_fixes_are_offsets_in_the_cell(assistant) -> None:
    cell, cursor = split("%%tfrt -q s\n" + PROGRAM.replace("%s¦ix", "%s¦xi"))
    (fix,) = ask(assistant, "fixes", cell)
    right = cell[: fix["start"]] + fix["text"] + cell[fix["end"] :]
    assert right == cell.replace("%sxi", "%six") and ask(assistant, "fixes", right) == []
    places = ask(assistant, "references", right, cursor)
    assert [right[start:end] for start, end in places] == ["%six", "%six"]
    question = {"ask": "rename", "text": right, "cursor": cursor, "name": "half"}
    assert assistant.answer(question)["answer"] == {"text": "%half", "places": places}
    taken = assistant.answer({**question, "name": "n"})["answer"]
    assert taken["problem"].startswith("%n is already defined: line 2")
    (fix,) = ask(assistant, "fixes", "%%tfrt --wrok-queue s\n" + split(PROGRAM)[0])
    assert (fix["start"], fix["end"], fix["text"]) == (7, 19, "--work-queue")
    for what in ("fixes", "references", "rename"):
        assert not ask(assistant, what, "x = 1")
