"""The whole way: a program in a cell, the native runtime, the board, the saved notebook."""

from __future__ import annotations

PROGRAM = """%%tfrt -o value
func @main() -> i32 {
  %chain = tfrt.new.chain
  %one = tfrt.constant.i32 1
  %two = tfrt.add.i32 %one, %one
  %microseconds = tfrt.constant.i32 4000000
  %slept = "tfrt_test.blocking.usleep"(%microseconds) : (i32) -> !tfrt.chain
  %late = "tfrt_test.identity"(%slept, %two) : (!tfrt.chain, i32) -> i32
  %sum = tfrt.add.i32 %late, %two
  %printed = tfrt.print.i32 %sum, %chain
  tfrt.return %sum : i32
}"""
# The first run on a machine, or after a change of the native core, compiles it.
COMPILE_MILLISECONDS = 120_000
ROW = ".tfrt-board tr[data-name='{}'][data-state='{}']"


def test_a_delayed_value_is_unavailable_then_available_and_can_be_read_later(notebook) -> None:
    page = notebook.page
    notebook.lab.write("real.ipynb", "%load_ext tfrt_nb", PROGRAM, "print(value.result())")
    notebook.open("real.ipynb")
    notebook.run_all()
    page.wait_for_selector(ROW.format("%two", "available"), timeout=COMPILE_MILLISECONDS)
    assert page.locator(ROW.format("%late", "unavailable")).count() == 1
    notebook.picture("real_live")

    page.wait_for_selector("text=@main: done, 8 of 8 values")
    output = notebook.outputs(1).inner_text()
    assert "int32 = 4" in output
    notebook.picture("real_ended")
    page.wait_for_selector(".jp-CodeCell >> nth=2 >> .jp-OutputArea:has-text('4')")
    notebook.save()
    notebook.shut_down()

    notebook.open("real.ipynb", kernel=False)
    page.wait_for_selector("text=@main: done, 8 of 8 values")
    assert notebook.outputs(1).inner_text() == output


def test_an_interrupt_stops_a_real_run(notebook) -> None:
    page = notebook.page
    slow = PROGRAM.replace("4000000", "60000000")
    notebook.lab.write("real_interrupt.ipynb", "%load_ext tfrt_nb", slow)
    notebook.open("real_interrupt.ipynb")
    notebook.run_all()
    page.wait_for_selector(ROW.format("%two", "available"), timeout=COMPILE_MILLISECONDS)
    notebook.command("notebook:interrupt-kernel")
    line = "%%tfrt: interrupted; @main was still waiting for %slept, %late, %sum, %printed"
    notebook.outputs(1).locator("pre", has_text=line).wait_for(timeout=30_000)
    assert notebook.outputs(1).locator("td", has_text="cancelled").count() >= 4


def test_errors_of_compiler_and_runtime_point_at_the_text(notebook) -> None:
    notebook.lab.write(
        "real_errors.ipynb",
        "%load_ext tfrt_nb",
        PROGRAM.replace("%late, %two", "%lat, %two"),
        PROGRAM.replace('"tfrt_test.identity"', '"tfrt_test.no_such"'),
    )
    notebook.open("real_errors.ipynb")
    notebook.run_all_and_wait()
    for cell, text in ((1, "%lat"), (2, '"tfrt_test.no_such"')):
        marked = notebook.outputs(cell).locator("pre span").nth(1)
        assert marked.inner_text() == text
    notebook.picture("real_errors")
