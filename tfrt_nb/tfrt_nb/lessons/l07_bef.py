"""Exercises of tutorial 07, inside BEF."""

from __future__ import annotations

import reprlib

from tfrt_nb.exercises.answer import Answer, Names, waited_for
from tfrt_nb.exercises.exercise import exercise


@exercise(
    "bef.count",
    right=("3 5 1", "3, 5, 1"),
    wrong={
        "4 5 1": "each different kernel once",
        "5 5 1": "is no kernel",
        "3 4 1": "argument",
        "3 5 2": "one constant",
        "3 5": "Write 3 numbers",
    },
    why="Kernels: constant, mul, minus.  Registers: %step, %ten, %long, %longer, %rest.  The number 10 is stored once.",
)
def count(answer: Answer) -> str | None:
    """How many entries has the table of kernels, how many registers has `@way`, and how many integers are among the
    attributes? Write three numbers.
    """
    kernels, registers, integers = answer.numbers(3)
    if kernels == 4:
        return "The table has each different kernel once, and `tfrt.mul.i32` is used twice."
    if kernels == 5:
        return "The table has each different kernel once; and `tfrt.return` is no kernel."
    if registers == 4:
        return "The argument has a register, too."
    if kernels != 3:
        return "Kernels: write down the name in each line, but for `tfrt.return`.  Each different name counts once."
    if registers != 5:
        return "Registers: one for the argument, and one for the result of each operation."
    if integers != 1:
        return (
            "There is one constant operation, so there is one constant, however often %ten is used."
        )
    return None


@exercise(
    "bef.inside",
    right=("way tfrt.minus.i32", "`tfrt.minus.i32` and @way"),
    wrong={
        "way longer tfrt.minus.i32": "names of values",
        "way tfrt.minus.i32 long": "names of values",
        "way": "kernel is found by its name",
        "way tfrt.minus.i32 tfrt.return": "special form",
        "way tfrt.minus.i32 comment": "comment",
        "tfrt.minus.i32": "called by its name",
        "way: yes\nlonger: no\ntfrt.minus.i32: yes\ntfrt.return: no\ncomment: no": "only those that are",
    },
    why="Functions are called by name, and kernels are found by name when the file is loaded.  Values become registers.",
)
def inside(answer: Answer) -> str | None:
    """Which of these are in the bytes of the sections that a run needs: `way`, `longer`, `tfrt.minus.i32`, `tfrt.return`, the
    `comment`? Write them.
    """
    words = {word.removeprefix("@") for word in answer.words} - {"function", "kernel"}
    if not words & {"way", "longer", "long", "step", "tfrt.minus.i32", "tfrt.return", "comment"}:
        return "Write words of the list: way, longer, tfrt.minus.i32, tfrt.return, comment."
    if words & {"no", "not"}:
        return "Write only those that are in the bytes."
    if words & {"long", "longer", "%longer", "step"}:
        return "The names of values are gone: values are registers with numbers."
    if "comment" in words:
        return "A comment is for people; nothing of it is in the file."
    if "tfrt.return" in words:
        return "`tfrt.return` is a special form: the function's record lists the registers that it returns."
    if "tfrt.minus.i32" not in words:
        return "A kernel is found by its name when the file is loaded, so the name must be there."
    if "way" not in words:
        return "A function is called by its name, so the name must be there."
    return None if words == {"way", "tfrt.minus.i32"} else "Write only names of the list."


@exercise(
    "bef.patch",
    start="""\
    def patched(data):
        return data
    """,
    right="""\
    def patched(data):
        return data.replace(bytes([25, 0, 0, 0]), bytes([40, 0, 0, 0]))
    """,
    wrong={
        "def patched(data):\n    return data.replace(b'25', b'40')": "not as the letters",
        "def patched(data):\n    return data.replace(bytes([25, 0, 0, 0]), bytes([50, 0, 0, 0]))": "returns 50, not 40",
        "def patched(data):\n    return data[:-1]": "no whole BEF file",
        "def patched(data):\n    return 80": "must return bytes",
    },
    why="The constant is stored in four bytes, the smallest first: 19 00 00 00 in hexadecimal is 25.",
)
def patch(answer: Names) -> str | None:
    """`data` is the BEF file of this program. Write `patched(data)`, which returns the bytes of a program that returns 40. Do not
    compile anything: change the bytes. (`data.replace(old, new)` replaces bytes.)

    ```
    func.func @main() -> i32 {
      %price = tfrt.constant.i32 25
      tfrt.return %price : i32
    }
    ```
    """
    from tfrt_nb.programs import Program
    from tfrt_runtime.diagnostics import TfrtError

    text = (
        "func.func @main() -> i32 {\n  %price = tfrt.constant.i32 25\n  tfrt.return %price : i32\n}"
    )
    data = Program.from_source(text).bef
    found = answer.call("patched", data)
    if isinstance(found, bytearray | memoryview):
        found = bytes(found)
    if not isinstance(found, bytes):
        return f"`patched` must return bytes; it returned {reprlib.repr(found)}."
    if found == data:
        return "The bytes are the same as before: what you look for is not in them.  25 is stored as four bytes, the lowest first, not as the letters 2 and 5; and 0x25 is another number."
    try:
        result = waited_for(Program.from_bef(found).run())
    except TfrtError as problem:
        return f"That is no whole BEF file any more: {problem}"
    if result != 40:
        return f"The program now returns {result}, not 40."
    named = Program.from_source(text.replace("@main", "@sale")).bef
    if b"sale" not in bytes(answer.call("patched", named)):  # type: ignore[call-overload]
        return "Change the bytes of `data`: this gives another file, whatever `data` is."
    return None
