"""Test how the core's modules of LLVM IR are linked into one."""

from __future__ import annotations

import llvmlite.binding as llvm
import pytest

from tfrt_runtime.native.building import build


@pytest.mark.parametrize("count", [1, 2, 5, 8])
def test_every_module_is_linked_once_and_in_order(count: int) -> None:
    names = [f"f{number}" for number in range(count)]
    texts = [
        f"declare i64 @{after}(i64)\n"
        f"define i64 @{name}(i64 %x) {{\n  %r = call i64 @{after}(i64 %x)\n  ret i64 %r\n}}\n"
        for name, after in zip(names, [*names[1:], "outside"], strict=True)
    ]
    module = build.linked([llvm.parse_assembly(text) for text in texts])
    module.verify()
    assert [one.name for one in module.functions if not one.is_declaration] == names
