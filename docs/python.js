// Python in a web worker, for a page's cells: JupyterLite's kernel, without JupyterLab.
//
// The first message contains the address of Pyodide and the page's session.  Every other message contains a cell to
// run, and the cell's id.  The answers are lists: a kind, and its contents.

const KERNEL = `
import json
import sys

import pyodide_kernel

kernel = pyodide_kernel.kernel_instance
shell = kernel.interpreter


def sender(kind):
    return lambda *contents: tell(kind, json.dumps(contents, default=str))


def refused(*_):
    raise RuntimeError("input() works in notebooks, but not on this page")


async def run(session, cell, source):
    kernel._parent_header = {"header": {"session": session}, "metadata": {"cellId": cell}}
    reply = await kernel.run(source)
    return "\\n".join(reply.get("traceback", ()))


pyodide_kernel.stdout_stream.publish_stream_callback = sender("stream")
pyodide_kernel.stderr_stream.publish_stream_callback = sender("stream")
shell.display_pub.display_data_callback = sender("display")
shell.display_pub.update_display_data_callback = sender("update")
shell.display_pub.clear_output_callback = sender("clear")
shell.displayhook.publish_execution_result = sender("result")
shell.send_comm = sender("comm")
shell.input = shell.getpass = refused
run
`;

let before = Promise.resolve();

onmessage = ({ data }) => {
  before = before.then(() => (data.pyodide ? start(data) : run(data)));
};

let session, runCell;

async function start(data) {
  ({ session } = data);
  try {
    const { loadPyodide } = await import(data.pyodide + "pyodide.mjs");
    const python = await loadPyodide({ packages: ["tfrt-nb", "pyodide-kernel"] });
    const globals = python.toPy({ tell: (kind, text) => postMessage([kind, ...JSON.parse(text)]) });
    runCell = python.runPython(KERNEL, { globals });
    await runCell(session, "start", "%load_ext tfrt_nb");
    postMessage(["started"]);
  } catch (problem) {
    postMessage(["failed", String(problem)]);
  }
}

async function run({ cell, source }) {
  try {
    postMessage(["done", cell, await runCell(session, cell, source)]);
  } catch (problem) {
    postMessage(["failed", String(problem)]);
  }
}
