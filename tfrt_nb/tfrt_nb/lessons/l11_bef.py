"""Exercises of tutorial 11, inside BEF."""

from __future__ import annotations

import reprlib

from tfrt_nb.exercises.answer import Answer, Names, waited_for
from tfrt_nb.exercises.exercise import exercise


@exercise(
    "bef.count",
    form="[7, 8, 9]",
    right=("[1, 2, 1]", "1, 2, 1"),
    wrong={
        "[2, 2, 2]": "%step is already available",
        "[0, 2, 1]": "%ten is a result",
        "[1, 1, 1]": "both operands of %longer",
        "[1, 2, 2]": "%rest takes",
        "[1, 2, 0]": "%rest takes",
        "[1, 2]": "Write 3 values",
    },
    why="%long waits for %ten, %longer for %long and %ten, and %rest for %longer.",
)
def count(answer: Answer) -> str | None:
    """Each operation counts down the operands that it waits for. `@way` has just started: `%step`
    has arrived, and no operation has run, not even the constant. What is the countdown of `%long`,
    of `%longer`, and of `%rest`? Write three numbers.
    """
    found = answer.numbers(3)
    hints = (
        (1, "%ten is a result, too, and it is still missing: %long waits for one operand."),
        (2, "both operands of %longer are results of operations that have not run."),
        (1, "%rest takes %longer, which is missing, and %step, which is available."),
    )
    if found[0] == 2:
        return (
            "%step is already available, so each operation that takes it waits for one fewer"
            " operand."
        )
    return next(
        (hint for number, (right, hint) in zip(found, hints, strict=True) if number != right), None
    )


@exercise(
    "bef.inside",
    form='[word, "word.with.dots"]',
    right=('[way, "tfrt.minus.i32"]', "tfrt.minus.i32, way"),
    wrong={
        '[way, longer, "tfrt.minus.i32"]': "names of values",
        "[way, tfrt.minus.i32, long]": "names of values",
        "way": "kernel is found by its name",
        "[way, tfrt.minus.i32, tfrt.return]": "Line 1 was not understood",
        '[way, "tfrt.minus.i32", "tfrt.return"]': "special form",
        '[way, "tfrt.minus.i32", comment]': "comment",
        '"tfrt.minus.i32"': "called by its name",
        "[ways]": "'ways' is not one of",
    },
    why="Functions are called by name, and kernels are found by name when the file is loaded.  "
    "Values become registers.",
)
def inside(answer: Answer) -> str | None:
    """Which of these are in the bytes of the sections that a run needs: `way`, `longer`,
    `tfrt.minus.i32`, `tfrt.return`, the `comment`? Write a list of them.
    """
    value = "The names of values are not stored: values are numbered registers."
    hints = {
        "long": value,
        "longer": value,
        "step": value,
        "comment": "A comment is for people; none of it is in the file.",
        "tfrt.return": "`tfrt.return` is a special form: the function's record lists the registers"
        " that it returns.",
        "tfrt.minus.i32": "A kernel is found by its name when the file is loaded,"
        " so the name must be there.",
        "way": "A function is called by its name, so the name must be there.",
    }
    found = answer.items(words=hints)
    right = {"way", "tfrt.minus.i32"}
    for word, hint in hints.items():
        if (word in found) != (word in right):
            return hint
    return None if {*found} == right else "Write only names from the list."


@exercise(
    "bef.patch",
    start="""\
    def patched(data):
        return data
    """,
    right=(
        """\
    import tfrt_nb as tfrt

    def patched(data):
        constants = bytes(tfrt.Program.from_bef(data).file.attributes)
        at = data.index(constants)
        return data[:at] + bytes([40, 0, 0, 0]) + data[at + len(constants) :]
    """,
        """\
    def patched(data):
        return data.replace(bytes([25, 0, 0, 0]), bytes([40, 0, 0, 0]))
    """,
    ),
    wrong={
        "def patched(data):\n    return data.replace(b'25', b'40')": "not as the letters",
        "def patched(data):\n    return data.replace(bytes([25, 0, 0, 0]), bytes([50, 0, 0, "
        "0]))": "returns 50, not 40",
        "def patched(data):\n    return data[:-1]": "no longer a complete BEF file",
        "def patched(data):\n    return 80": "must return bytes",
    },
    why="The constant is stored in four bytes, the smallest first: 19 00 00 00 in hexadecimal "
    "is 25.",
)
def patch(answer: Names) -> str | None:
    """`data` is the BEF file of this program. Write `patched(data)`, which returns the bytes of a
    program that returns 40. Do not compile anything: change the bytes.
    (`tfrt.Program.from_bef(data).file` has the same fields as `program.file`.)

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
        return (
            "The bytes have not changed: they do not contain those that you look for.  25 is "
            "stored as four bytes, the lowest first, not as the letters 2 and 5; and 0x25 is "
            "another number."
        )
    try:
        result = waited_for(Program.from_bef(found).run())
    except TfrtError as problem:
        return f"That is no longer a complete BEF file: {problem}"
    if result != 40:
        return f"The program now returns {result}, not 40."
    named = Program.from_source(text.replace("@main", "@sale")).bef
    if b"sale" not in bytes(answer.call("patched", named)):  # type: ignore[call-overload]
        return (
            "Change the bytes of `data`: this returns another program that does not depend on "
            "`data`."
        )
    return None
