"""Cells of a notebook in the page, in a shell with a kernel like JupyterLite's; see `test_page`."""

import json
import re
import sys
from types import SimpleNamespace

from IPython.core.displaypub import DisplayPublisher
from IPython.core.interactiveshell import InteractiveShell

published = []


class Publisher(DisplayPublisher):
    def publish(self, data, metadata=None, source=None, *, transient=None, update=False, **_):
        json.dumps(data)
        published.append((data, (transient or {}).get("display_id"), update))


class Shell(InteractiveShell):
    def __init__(self, **settings):
        super().__init__(**settings)
        self.kernel = SimpleNamespace(
            get_parent=lambda: {"header": {"session": "a page"}, "metadata": {"cellId": "a cell"}}
        )

    def init_history(self):
        super().init_history()
        self.history_manager.enabled = False

    def _showtraceback(self, kind, value, lines):
        pass


RUN = "application/vnd.tfrt.run.v2+json"
shell = Shell.instance(display_pub_class=Publisher)
shell.displayhook.write_output_prompt = lambda: None


def run(text):
    """Run a cell; what it published, and its error."""
    del published[:]
    done = shell.run_cell(text, store_history=True)
    return published, done.error_before_exec or done.error_in_exec


def without_times(text):
    """A table without when and where."""
    return re.sub(r"[, ]+((cell|main) *)?([0-9.]+ [nµm]?s.*)?$", "", text, flags=re.MULTILINE)


run("%load_ext tfrt_nb")
shown, problem = run(
    """%%tfrt
func.func @main() -> i32 {
  %c0 = tfrt.new.chain
  %x = tfrt.constant.i32 40
  %y = tfrt.constant.i32 2
  %sum = tfrt.add.i32 %x, %y
  %c1 = tfrt.print.i32 %sum, %c0
  tfrt.return %sum : i32
}"""
)
boards = [data for data, _, _ in shown if RUN in data]
print("a cell:", problem, boards[-1][RUN]["status"])
print(without_times(boards[-1]["text/plain"]))

shown, problem = run(
    """%%tfrt
func.func @main() -> i32 {
  %x = tfrt.constant.i32 1
  %zero = tfrt.constant.i32 0
  %q, %r = tfrt.div.i32 %x, %zero
  tfrt.return %q : i32
}"""
)
print("an error:", problem)
print(shown[-1][0]["text/plain"])

shown, problem = run(
    """import tfrt_nb as tfrt

@tfrt.kernel
def twice(x: int) -> int:
    return 2 * x

@tfrt.program
def four(x: int) -> int:
    return twice(twice(x))

four(3)"""
)
print("a call of Python:", problem, *shown[-1][0])
run("result = four(3).result()")
print("its result:", shell.user_ns["result"])

print("numpy:", sys.modules.get("numpy"))
