"""Provide watched runs and their documents."""

from __future__ import annotations

import gc

import pytest

from tfrt_nb import HostContext, Program
from tfrt_nb.documents.run import RunDocument

QUEUES = ("s", "mstd:2")


@pytest.fixture(params=QUEUES)
def host(request):
    """A silent host, on which nothing may be left."""
    with HostContext(request.param, output=lambda _: None, on_diagnostic=lambda _: None) as made:
        yield made
        gc.collect()
        assert made.live_values() == 0


def watched(host, program, *arguments, kernels=None, watch=True):
    """Return the document of a finished run of @main; a string is the source of a program."""
    if isinstance(program, str):
        program = Program.from_source(program, "p")
    run = program.run(host, "main", arguments, kernels=kernels, watch=watch)
    assert run.wait(60)
    return RunDocument(program, run)
