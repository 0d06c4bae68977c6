"""An IPython shell with a kernel like JupyterLite's, for cells in the page; see `test_page`."""

import json
import re
from types import SimpleNamespace

import comm
from IPython.core.displaypub import DisplayPublisher
from IPython.core.interactiveshell import InteractiveShell

published = []
sent = []
"""The messages on comms."""
listeners = []
"""Functions called with the data of each output."""


class Comm(comm.BaseComm):
    def publish_msg(self, msg_type, data=None, metadata=None, buffers=None, **_):
        json.dumps(data)
        sent.append(data)


comm.create_comm = Comm


class Publisher(DisplayPublisher):
    def publish(self, data, metadata=None, source=None, *, transient=None, update=False, **_):
        json.dumps(data)
        published.append(data)
        for listener in listeners:
            listener(data)


class Shell(InteractiveShell):
    def __init__(self, **settings):
        super().__init__(**settings)
        self.kernel = SimpleNamespace(
            get_parent=lambda: {"header": {"session": "a page"}, "metadata": {"cellId": "a cell"}}
        )

    def init_history(self):
        super().init_history()
        self.history_manager.enabled = False

    def showtraceback(self, *_, **__):
        pass


RUN = "application/vnd.tfrt.run.v2+json"
shell = Shell.instance(display_pub_class=Publisher)
shell.displayhook.write_output_prompt = lambda: None


def run(text):
    """Run a cell, and return what it published and its error."""
    del published[:]
    done = shell.run_cell(text, store_history=True)
    return published, done.error_before_exec or done.error_in_exec


def without_times(text):
    """Return a table without times and workers."""
    return re.sub(r"[, ]+((cell|main) *)?([0-9.]+ [nµm]?s.*)?$", "", text, flags=re.MULTILINE)


run("%load_ext tfrt_nb")
