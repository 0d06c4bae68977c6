"""Folding does what the machine does, and what MLIR does."""

from __future__ import annotations

import ctypes
import math
import os
import re
import shutil
import struct
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import pytest
from xdsl.context import Context

from tfrt_nb.jit.compiler import compile_module
from tfrt_nb.jit.coroutines import lower_to_llvm, packed_name
from tfrt_nb.passes.notation import parse_pipeline
from tfrt_nb.passes.printing import print_ir
from tfrt_nb.source import parse_module

LIKE_MLIR = Path(__file__).parent / "like_mlir"
PIPELINE = "// pipeline: "
WIDTHS = {"i1": 1, "i8": 8, "i16": 16, "i32": 32, "i64": 64, "index": 64}
FLOATS = ("f32", "f64")
ARITHMETIC = (
    *("addi", "subi", "muli", "andi", "ori", "xori", "maxsi", "maxui", "minsi", "minui"),
    *("divsi", "divui", "remsi", "remui", "ceildivsi", "ceildivui", "floordivsi"),
    *("shli", "shrsi", "shrui"),
)
FLOAT_ARITHMETIC = ("addf", "subf", "mulf", "divf", "maximumf", "minimumf")
COMPARISONS = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")
FLOAT_COMPARISONS = ("oeq", "ogt", "ole", "one", "ord", "ueq", "ult", "une", "uno")


@dataclass
class ScalarProgram:
    """Written line by line.  `constants` is how many operands are new constants, from 0 to 1.

    A divisor is always an odd constant other than -1, and a shift counts less than the width.
    """

    random: Random
    constants: float = 0.5
    lines: list[str] = field(default_factory=list)
    values: list[tuple[str, str]] = field(default_factory=list)

    def constant(self, type_: str) -> str:
        """A new constant that may be an extreme one."""
        choose = self.random.choice
        if type_ == "i1":
            return self._line(f"arith.constant {choose(('true', 'false'))}")
        if type_ in FLOATS:
            number = choose(("0.0", "-0.0", "1.0", "-2.5", "0.1", "1.0e30", "3.0"))
            return self._line(f"arith.constant {number} : {type_}")
        most = 2 ** (WIDTHS[type_] - 1) - 1
        number = choose((0, 1, -1, 2, 3, 7, -5, most, -most - 1, self.random.randrange(-99, 99)))
        return self._line(f"arith.constant {number} : {type_}")

    def operand(self, type_: str) -> str:
        """A constant, or one of the latest values of the type."""
        known = [name for name, of_type in self.values if of_type == type_]
        if not known or self.random.random() < self.constants:
            return self.constant(type_)
        return self.random.choice(known[-4:])

    def operation(self) -> None:
        """One operation with its operands."""
        makers = (self._integers, self._integers, self._compare, self._select, self._cast)
        maker: Callable[[], None] = self.random.choice((*makers, self._floats, self._convert))
        maker()

    def _integers(self) -> None:
        type_ = self.random.choice(list(WIDTHS))
        name = self.random.choice(ARITHMETIC)
        left = self.operand(type_)
        if "div" in name or "rem" in name:
            divisor = "true" if type_ == "i1" else self.random.choice((1, 3, 7, -5))
            typed = "true" if type_ == "i1" else f"{divisor} : {type_}"
            if type_ == "i1" and name not in ("divui", "remui"):
                return
            right = self._line(f"arith.constant {typed}")
        elif name.startswith("sh"):
            count = self.random.randrange(WIDTHS[type_])
            typed = "false" if type_ == "i1" else f"{count} : {type_}"
            right = self._line(f"arith.constant {typed}")
        else:
            right = self.operand(type_)
        self._value(type_, f"arith.{name} {left}, {right} : {type_}")

    def _floats(self) -> None:
        type_ = self.random.choice(FLOATS)
        name = self.random.choice(FLOAT_ARITHMETIC)
        left, right = self.operand(type_), self.operand(type_)
        self._value(type_, f"arith.{name} {left}, {right} : {type_}")

    def _compare(self) -> None:
        type_ = self.random.choice((*WIDTHS, *FLOATS))
        predicates = FLOAT_COMPARISONS if type_ in FLOATS else COMPARISONS
        name = "cmpf" if type_ in FLOATS else "cmpi"
        left, right = self.operand(type_), self.operand(type_)
        self._value(
            "i1", f"arith.{name} {self.random.choice(predicates)}, {left}, {right} : {type_}"
        )

    def _select(self) -> None:
        type_ = self.random.choice((*WIDTHS, *FLOATS))
        condition, then, otherwise = self.operand("i1"), self.operand(type_), self.operand(type_)
        self._value(type_, f"arith.select {condition}, {then}, {otherwise} : {type_}")

    def _cast(self) -> None:
        narrow, wide = sorted(
            self.random.sample(("i1", "i8", "i16", "i32", "i64"), 2), key=WIDTHS.__getitem__
        )
        name = self.random.choice(("extsi", "extui", "trunci"))
        source, target = (wide, narrow) if name == "trunci" else (narrow, wide)
        self._value(target, f"arith.{name} {self.operand(source)} : {source} to {target}")

    def _convert(self) -> None:
        number = self.random.choice(("i8", "i32", "i64"))
        kind = self.random.choice(("index_cast", "index_castui", "sitofp", "uitofp", "extf"))
        if kind == "extf":
            self._value("f64", f"arith.extf {self.operand('f32')} : f32 to f64")
        elif "to" in kind:
            type_ = self.random.choice(FLOATS)
            self._value(type_, f"arith.{kind} {self.operand(number)} : {number} to {type_}")
        else:
            self._value("index", f"arith.{kind} {self.operand(number)} : {number} to index")

    def _value(self, type_: str, text: str) -> None:
        self.values.append((self._line(text), type_))

    def _line(self, text: str) -> str:
        name = f"%v{len(self.lines)}"
        self.lines.append(f"  {name} = {text}\n")
        return name

    def function(self, arguments: bool) -> str:
        """The function; it returns its last values."""
        given = [f"%{type_}_{n}" for type_ in (*WIDTHS, *FLOATS) for n in "ab"] if arguments else []
        parameters = ", ".join(f"{name}: {name[1:-2]}" for name in given)
        results = [(name, type_) for name, type_ in self.values if name not in given][-6:]
        names, types = (", ".join(one[part] for one in results) for part in (0, 1))
        end = f"  return {names} : {types}\n" if results else "  return\n"
        return f"func.func @f({parameters}) -> ({types}) {{\n{''.join(self.lines)}{end}}}\n"


def scalar_program(seed: int, operations: int, *, arguments: bool) -> str:
    """A function of so many operations, with or without arguments."""
    program = ScalarProgram(Random(seed))
    if arguments:
        program.values += [(f"%{type_}_{n}", type_) for type_ in (*WIDTHS, *FLOATS) for n in "ab"]
    while len(program.values) < operations + (2 * 8 if arguments else 0):
        program.operation()
    return program.function(arguments)


C_TYPES = {
    "i1": ctypes.c_bool,
    "i8": ctypes.c_int8,
    "i16": ctypes.c_int16,
    "i32": ctypes.c_int32,
    "i64": ctypes.c_int64,
    "index": ctypes.c_int64,
    "f32": ctypes.c_float,
    "f64": ctypes.c_double,
}


def results_of(text: str) -> list[object]:
    """What a function without arguments returns, floats as their bits."""
    types = text.partition("-> (")[2].partition(")")[0].split(", ")
    code = compile_module(lower_to_llvm(parse_module(text, "program")), {})
    packed = ctypes.CFUNCTYPE(ctypes.c_bool, ctypes.c_void_p)(code.address(packed_name("f")))
    cells = [C_TYPES[type_]() for type_ in types]
    pointers = (ctypes.c_void_p * len(cells))(*map(ctypes.addressof, cells))
    assert packed(ctypes.addressof(pointers)) is False
    return [_bits(cell.value) for cell in cells]


def _bits(value: object) -> object:
    """Two numbers that are none are alike, zeros with different signs are not."""
    if not isinstance(value, float):
        return value
    return "nan" if math.isnan(value) else struct.pack("<d", value)


def after(text: str, pipeline: str) -> str:
    """The text after the passes."""
    module = parse_module(text, "program")
    parse_pipeline(pipeline).apply(Context(), module)
    module.verify()
    return print_ir(module)


def mlir(text: str, pipeline: str) -> str:
    """What MLIR's own passes print; the test is skipped without them."""
    opt = shutil.which("mlir-opt", path=os.environ.get("MLIR_TOOLS")) or shutil.which("mlir-opt")
    if opt is None:
        pytest.skip("mlir-opt is not on PATH, and MLIR_TOOLS names no folder with it")
    command = [opt, "-", f"--pass-pipeline={pipeline}"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("seed", range(25))
def test_a_program_of_constants_gives_the_same_folded(seed: int) -> None:
    text = scalar_program(seed, 16, arguments=False)

    folded = after(text, "builtin.module(canonicalize)")

    body = [line.strip() for line in folded.splitlines() if " = " in line]
    assert [line for line in body if "arith.constant" not in line] == []
    assert results_of(folded) == results_of(text)


@pytest.mark.parametrize("pipeline", ["canonicalize", "cse", "canonicalize,cse"])
@pytest.mark.parametrize("seed", range(8))
def test_a_program_with_arguments_is_printed_as_by_mlir(seed: int, pipeline: str) -> None:
    text = "".join(
        scalar_program(100 * seed + number, 8, arguments=True).replace("@f", f"@f{number}")
        for number in range(40)
    )

    passes = f"builtin.module({pipeline})"
    assert after(text, passes).rstrip() == mlir(text, passes).rstrip()


RECORDED = [
    (path, line.removeprefix(PIPELINE))
    for path in sorted(LIKE_MLIR.glob("*.mlir"))
    for line in path.read_text().splitlines()
    if line.startswith(PIPELINE)
]
"""The files of programs, each with the pipelines that its first lines name."""


@pytest.mark.parametrize(("path", "pipeline"), RECORDED, ids=lambda one: getattr(one, "stem", one))
def test_programs_with_loops_and_tasks_are_printed_as_by_mlir(path: Path, pipeline: str) -> None:
    # As many blocks as MLIR has, some of which are too many: the only text that is not its by default.
    ours = re.sub(
        r"async-parallel-for(?:\{(.*?)\})?",
        r"async-parallel-for{\1 keep-block-count}",
        pipeline,
    )
    for text in re.split("^// -----\n", path.read_text(), flags=re.MULTILINE):
        assert after(text, ours).rstrip() == mlir(text, pipeline).rstrip()
