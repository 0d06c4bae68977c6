"""Test `btf.*`: tensors from valid and invalid files."""

from __future__ import annotations

import os
import struct
from pathlib import Path

import numpy as np
import pytest
from docs.btf_files import btf, dense, sparse
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tfrt_runtime.kernels.registry import KernelError

ARRAY = np.array([[0, 1, 0], [2, 0, 3]])
FILE = btf(dense(ARRAY, "i32"), sparse(ARRAY, "i32"))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    target = tmp_path / "tensors.btf"
    target.write_bytes(FILE)
    return target


def patched(offset: int, data: bytes) -> bytes:
    return FILE[:offset] + data + FILE[offset + len(data) :]


U64 = struct.Struct("<Q").pack


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("dense", b"", "at byte 0: expected 8 bytes of the number of tensors, found 0"),
        ("dense", FILE[:10], "at byte 8: expected 8 bytes of the offset of tensor 0, found 2"),
        ("dense", FILE[:30], "at byte 24: expected 16 bytes of a tensor's header, found 6"),
        ("dense", FILE[:50], "at byte 40: expected 16 bytes of sizes, found 10"),
        ("dense", FILE[:70], "at byte 56: expected 24 bytes of elements, found 14"),
        ("dense", patched(8, U64(2**63)), f"at byte {2**63}: expected 16 bytes"),
        ("dense", patched(24, U64(2**60)), f"at byte 24: a tensor of rank {2**60}"),
        ("dense", patched(32, b"\xff"), "at byte 32: unknown element type 255"),
        ("dense", patched(33, b"\x01"), "at byte 33: unknown layout 1"),
        ("dense", patched(40, U64(2**63)), "at byte 40: too many elements in shape"),
        ("dense", patched(40, U64(2**59)), "at byte 56: expected 6917529027641081856 bytes"),
        ("coo", patched(112, U64(2**60)), "at byte 120: expected 18446744073709551616 bytes"),
        ("coo", patched(112, U64(2**63)), "at byte 112: too many elements in shape"),
        ("coo", patched(120, U64(2)), r"at byte 112: an index is outside shape \[2, 3\]"),
        ("coo", patched(120, U64(2**64 - 1)), r"at byte 112: an index is outside shape \[2, 3\]"),
    ],
)
def test_a_file_that_is_not_whole_is_diagnosed(kernels, path, name, data, reason) -> None:
    path.write_bytes(data)
    with pytest.raises(KernelError, match=reason):
        kernels(f"btf.read_{name}_tensor.i32.2", str(path), 0 if name == "dense" else 1)


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, len(FILE) - 1), st.integers(0, 255), st.booleans())
def test_any_changed_byte_gives_a_tensor_or_an_error(kernels, path, offset, byte, is_cut) -> None:
    path.write_bytes(FILE[:offset] if is_cut else patched(offset, bytes([byte])))
    for index, name in enumerate(["dense", "coo"]):
        try:
            kernels(f"btf.read_{name}_tensor.i32.2", str(path), index)
        except KernelError as error:
            assert error.message.startswith("cannot read a tensor from")


def test_what_cannot_be_opened_is_diagnosed(kernels, tmp_path) -> None:
    missing, pipe = tmp_path / "missing.btf", tmp_path / "pipe.btf"
    os.mkfifo(pipe)
    reasons = {
        str(missing): "No such file or directory",
        str(tmp_path): "Is a directory",
        str(pipe): "not an ordinary file",
        "/dev/zero": "not an ordinary file",
        "nul\0inside": "embedded null byte",
    }
    for path, reason in reasons.items():
        with pytest.raises(KernelError) as caught:
            kernels("btf.read_dense_tensor.f32.1", path, 0)
        assert caught.value.message == f"cannot read a tensor from {path}: {reason}"
