"""Run whole networks as programs, and compare them with numpy.

Their weights are random, and are read from BTF files.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from docs.btf_files import btf, dense

from tfrt_nb import HostContext, Program

Array = npt.NDArray[np.float32]


class Text:
    """The text of a program under construction, whose kernels run one after another."""

    def __init__(self, path: Path) -> None:
        self._lines = [
            f'  %path = tfrt_test.get_string {{value = "{path}"}}',
            "  %c0 = tfrt.new.chain",
        ]
        self._files = self._chains = 0

    def read(self, name: str, rank: int) -> None:
        """Add a kernel that reads the next tensor of the file."""
        number, self._files = self._files, self._files + 1
        kernel = f'"btf.read_dense_tensor.f32.{rank}"(%path, %i{number})'
        self._lines += [
            f"  %i{number} = tfrt.constant.i32 {number}",
            f"  {name} = {kernel} : (!tfrt.string, i32) -> !t.tensor",
        ]

    def new(self, name: str, *sizes: int) -> None:
        """Add a tensor that a kernel will fill."""
        listed = ", ".join(f"{size} : i64" for size in sizes)
        kernel = f"tfrt_dht.create_uninitialized_tensor.f32.{len(sizes)}"
        self._lines.append(f"  {name} = {kernel} [{listed}]")

    def kernel(self, name: str, *operands: str, attributes: str = "") -> None:
        """Add a kernel that writes into its last operand, after the previous kernel has run."""
        chain, self._chains = self._chains, self._chains + 1
        types = ", ".join("f32" if operand == "%one" else "!t.tensor" for operand in operands)
        self._lines.append(
            f'  %c{chain + 1} = "{name}"({", ".join(operands)}, %c{chain}) {{{attributes}}}'
            f" : ({types}, !tfrt.chain) -> !tfrt.chain"
        )

    def line(self, text: str) -> None:
        """Add any other line; `CHAIN` is replaced by the current chain."""
        self._lines.append("  " + text.replace("CHAIN", f"%c{self._chains}"))

    def returning(self, *names: str) -> str:
        """Return the text of the program, which returns these tensors."""
        types = ", ".join(["!t.tensor"] * len(names))
        chain = f"%c{self._chains}"
        return "\n".join(
            [
                f"func @main() -> ({types}, !tfrt.chain) {{",
                *self._lines,
                f"  tfrt.return {', '.join(names)}, {chain} : {types}, !tfrt.chain",
                "}",
            ]
        )


def results(text: str, work_queue: str) -> list[Array]:
    """Return the tensors that a program returns."""
    with HostContext(work_queue) as host:
        execution = Program.from_source(text, "network").run(host)
        assert execution.wait(60), execution.diagnostics
        *tensors, _chain = (value.result(0) for value in execution.results)
        assert all(isinstance(tensor, np.ndarray) for tensor in tensors)
        return [np.array(tensor) for tensor in tensors]


def convolved(images: Array, filters: Array, before: int, after: int) -> Array:
    """Multiply each pixel's window, extended by zeros, with each filter."""
    height, width, _, count = filters.shape
    batch, rows, columns, _ = images.shape
    extended = np.pad(images, ((0, 0), (before, after), (before, after), (0, 0)))
    rows, columns = rows + before + after - height + 1, columns + before + after - width + 1
    result = np.zeros((batch, rows, columns, count), np.float32)
    for y in range(rows):
        for x in range(columns):
            window = extended[:, y : y + height, x : x + width]
            result[:, y, x] = np.tensordot(window, filters, ([1, 2, 3], [0, 1, 2]))
    return result


QUEUES = pytest.mark.parametrize("work_queue", ["s", "mstd:2"])


@QUEUES
def test_digits_are_classified_as_numpy_does_it(tmp_path: Path, work_queue: str) -> None:
    chance = np.random.default_rng(28)
    images = chance.random((3, 28, 28, 1), np.float32)
    filters = chance.normal(0, 0.3, (5, 5, 1, 8)).astype(np.float32)
    weights = chance.normal(0, 0.05, (14 * 14 * 8, 10)).astype(np.float32)
    bias = chance.normal(0, 0.1, 10).astype(np.float32)
    path = tmp_path / "digits.btf"
    path.write_bytes(btf(*map(dense, (images, filters, weights, bias))))

    program = Text(path)
    for name, rank in (("%images", 4), ("%filters", 4), ("%weights", 2), ("%bias", 1)):
        program.read(name, rank)
    program.new("%convolved", 3, 28, 28, 8)
    program.kernel(
        "tfrt_test.conv2d.f32",
        "%images",
        "%filters",
        "%convolved",
        attributes='padding = "same", strides = [1 : i64, 1 : i64]',
    )
    program.kernel("tfrt_test.relu_inplace.f32", "%convolved")
    program.new("%pooled", 3, 14, 14, 8)
    window = "[2 : i64, 2 : i64]"
    program.kernel(
        "tfrt_test.max_pooling_2d.f32",
        "%convolved",
        "%pooled",
        attributes=f'padding = "valid", pool_size = {window}, strides = {window}',
    )
    # The same memory, seen as rows of features.
    program.line("%memory, %m = tfrt_dht.get_buffer %pooled, CHAIN")
    program.line(f"%rows = ts.build_shape [3 : i64, {14 * 14 * 8} : i64]")
    program.line("%features, %f = tfrt_dht.make_tensor.f32 %memory, %rows, %m")
    program.line("%one = tfrt.constant.f32 1.0")
    program.line("%shape = ts.build_shape [3 : i64, 10 : i64]")
    program.line(
        '%scores = "tfrt_test.broadcast.f32.2"(%bias, %shape, %f)'
        " : (!t.tensor, !ts.shape, !tfrt.chain) -> !t.tensor"
    )
    program.kernel("tfrt_test.matmul.f32.2", "%one", "%features", "%weights", "%one", "%scores")
    program.kernel("tfrt_test.softmax_inplace.f32", "%scores")
    program.line(
        '%digits = "tfrt_test.argmax.f32.2"(%scores, CHAIN) : (!t.tensor, !tfrt.chain) -> !t.tensor'
    )
    scores, digits = results(program.returning("%scores", "%digits"), work_queue)

    activations = np.maximum(convolved(images, filters, 2, 2), 0)
    pooled = activations.reshape(3, 14, 2, 14, 2, 8).max(axis=(2, 4))
    logits = pooled.reshape(3, -1) @ weights + bias
    exponentials = np.exp(logits - logits.max(axis=1, keepdims=True))
    np.testing.assert_allclose(
        scores, exponentials / exponentials.sum(axis=1, keepdims=True), rtol=1e-3, atol=1e-6
    )
    assert digits.tolist() == logits.argmax(axis=1).tolist()


@QUEUES
def test_a_residual_block_is_what_numpy_makes_of_it(tmp_path: Path, work_queue: str) -> None:
    chance = np.random.default_rng(50)
    images = chance.normal(0, 1, (2, 9, 9, 6)).astype(np.float32)
    filters = [chance.normal(0, 0.2, (3, 3, 6, 6)).astype(np.float32) for _ in range(2)]
    # For each normalization: scale, offset, mean, and variance.
    norms = [(0.5 + chance.random((4, 6))).astype(np.float32) for _ in range(2)]
    records = [images]
    for layer in range(2):
        records += [filters[layer], *norms[layer]]
    path = tmp_path / "block.btf"
    path.write_bytes(btf(*map(dense, records)))

    program = Text(path)
    program.read("%images", 4)
    source = "%images"
    for layer in range(2):
        program.read(f"%f{layer}", 4)
        parameters = [f"%{name}{layer}" for name in ("scale", "offset", "mean", "variance")]
        for parameter in parameters:
            program.read(parameter, 1)
        target = f"%x{layer}"
        program.new(target, *images.shape)
        program.kernel(
            "tfrt_test.conv2d.f32",
            source,
            f"%f{layer}",
            target,
            attributes='padding = "same", strides = [1 : i64, 1 : i64]',
        )
        program.kernel(
            "tfrt_test.batch_norm_inplace.f32",
            target,
            *parameters,
            attributes="epsilon = 0.001 : f32",
        )
        if layer == 0:
            program.kernel("tfrt_test.relu_inplace.f32", target)
        source = target
    program.kernel("tfrt_test.add_inplace.f32", "%images", "%x1")
    program.kernel("tfrt_test.relu_inplace.f32", "%x1")
    program.new("%mean", 2, 6)
    program.kernel("tfrt_test.global_average.f32", "%x1", "%mean")
    block, mean = results(program.returning("%x1", "%mean"), work_queue)

    values = images
    for layer, (scale, offset, centre, variance) in enumerate(norms):
        values = convolved(values, filters[layer], 1, 1)
        values = scale * (values - centre) / np.sqrt(variance + np.float32(0.001)) + offset
        values = np.maximum(values, 0) if layer == 0 else values
    expected = np.maximum(values + images, 0)
    np.testing.assert_allclose(block, expected, rtol=1e-3, atol=1e-5)
    np.testing.assert_allclose(mean, expected.mean(axis=(1, 2)), rtol=1e-3, atol=1e-5)
