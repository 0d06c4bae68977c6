"""What native kernels have Python print for them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tfrt_nb.convert.mlir_to_bef import mlir_to_bef
from tfrt_nb.programs import Program
from tfrt_nb.source import parse_module
from tfrt_runtime.bef.reader import BefFile
from tfrt_runtime.bef.writer import write_bef
from tfrt_runtime.diagnostics import TfrtError
from tfrt_runtime.host.context import HostContext

SLEEPS = """func @main() -> !tfrt.chain {
  %one = tfrt.constant.i32 1
  %ch = "tfrt_test.blocking.usleep"(%one) : (i32) -> !tfrt.chain
  tfrt.return %ch : !tfrt.chain
}
"""


def test_a_sleep_that_a_file_gives_a_function_to_is_refused() -> None:
    file = BefFile.load(mlir_to_bef(parse_module(SLEEPS, "f.mlir")))
    one, sleep = file.functions[0].kernels
    kernels = (one, sleep._replace(functions=(0,)))
    names = (("value",), ())
    function = replace(file.functions[0], kernels=kernels, attribute_names=names)
    data = write_bef(replace(file, functions=(function,)))

    with HostContext("s") as host, pytest.raises(TfrtError, match="takes no functions, found 1"):
        Program.from_bef(data, "f.bef").run(host)


def test_a_sleep_is_reported_when_it_is_over() -> None:
    with HostContext("mstd:2") as host:
        run = Program.from_source(SLEEPS, "f.mlir").run(host)
        assert run.wait(10)
        assert run.output == "Slept for 1 microseconds\n"
