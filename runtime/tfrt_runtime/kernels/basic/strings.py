"""Strings as values of a program.

A string is a Python str.  Bytes that are not valid UTF-8, in an attribute or a file, become lone
surrogates.
"""

from __future__ import annotations

import os
import re
import stat
from typing import Final

from tfrt_runtime.kernels.frame import KernelFrame, expect
from tfrt_runtime.kernels.registry import KernelError, KernelRegistry

REGISTRY: Final = KernelRegistry("strings")

# Limits on file size and field width that no sensible program exceeds.
MAXIMUM_FILE_SIZE: Final = 1 << 30
MAXIMUM_FIELD_WIDTH: Final = 4096

# A printf conversion of an int (flags, width, precision, length, and conversion), or "%%".
_CONVERSION: Final = re.compile(
    r"%(?:%|(?P<flags>[-+ #0]*)(?P<width>\d*)(?:\.(?P<precision>\d*))?(?:hh|h|ll|l)?"
    r"(?P<conversion>[diuoxX]))"
)


@REGISTRY.kernel(
    "tfrt_test.get_string_sync", attributes=("string",), results=("object",), sync=True
)
@REGISTRY.kernel("tfrt_test.get_string", attributes=("string",), results=("object",))
def get_string(value: str) -> str:
    """Return the string of an attribute."""
    return value


@REGISTRY.kernel("tfrt_test.append_string", results=("object",))
def append_string(left: object, right: object) -> str:
    """Return `left` followed by `right`."""
    return expect(str, left) + expect(str, right)


@REGISTRY.kernel("tfrt_test.string_equal", results=("i1",))
def string_equal(left: object, right: object) -> bool:
    """Return whether two strings have the same characters."""
    return expect(str, left) == expect(str, right)


@REGISTRY.kernel("tfrt_test.print_string", results=("chain",), frame=True)
def print_string(frame: KernelFrame, value: object) -> None:
    """Print `string = S`."""
    frame.host.print(f"string = {expect(str, value)}\n")


@REGISTRY.kernel("tfrt_test.format_string", results=("object",))
def format_string(pattern: object, value: int) -> str:
    """Format `value` with the only conversion in `pattern`, as C's printf does."""
    return format_like_printf(expect(str, pattern), expect(int, value))


def format_like_printf(pattern: str, value: int) -> str:
    """Format the i32 `value` with `pattern`, as C's printf does.

    Raises:
        KernelError: if a conversion does not take an int, or if there are several conversions.
    """
    pieces: list[str] = []
    position = conversions = 0
    while (percent := pattern.find("%", position)) >= 0:
        match = _CONVERSION.match(pattern, percent)
        if match is None:
            raise KernelError(f"format '{pattern}' has a conversion that does not print an i32")
        conversions += match[0] != "%%"
        pieces += [pattern[position:percent], _converted(match, value)]
        position = match.end()
    if conversions > 1:
        raise KernelError(
            f"format '{pattern}' has more than one conversion, but there is one value"
        )
    return "".join([*pieces, pattern[position:]])


def _converted(match: re.Match[str], value: int) -> str:
    if match[0] == "%%":
        return "%"
    width, precision = match["width"], match["precision"]
    if _is_too_large(width) or _is_too_large(precision or ""):
        raise KernelError(f"format '{match[0]}' is wider than {MAXIMUM_FIELD_WIDTH} characters")
    flags, conversion = match["flags"], match["conversion"]
    if conversion not in "di":
        value %= 1 << 32  # the conversion reads the int as unsigned
    digits = f"{abs(value):{conversion if conversion in 'oxX' else 'd'}}"
    if precision is not None:
        # A zero with precision 0 prints nothing.
        digits = digits.rjust(int(precision or 0), "0") if value or int(precision or 0) else ""
    if "#" in flags and conversion == "o" and not digits.startswith("0"):
        digits = f"0{digits}"
    prefix = _sign(value, flags) if conversion in "di" else ""
    if "#" in flags and conversion in "xX" and value:
        prefix = f"0{conversion}"
    return _padded(prefix, digits, flags if precision is None else flags.replace("0", ""), width)


def _is_too_large(size: str) -> bool:
    significant = size.lstrip("0")
    # Check the length first, because Python refuses to parse numbers with thousands of digits.
    return len(significant) > 9 or int(significant or 0) > MAXIMUM_FIELD_WIDTH


def _sign(value: int, flags: str) -> str:
    if value < 0:
        return "-"
    return "+" if "+" in flags else " " if " " in flags else ""


def _padded(prefix: str, digits: str, flags: str, width: str) -> str:
    size = int(width or 0)
    if "-" in flags:
        return f"{prefix}{digits}".ljust(size)
    if "0" in flags:
        return prefix + digits.rjust(size - len(prefix), "0")
    return f"{prefix}{digits}".rjust(size)


@REGISTRY.kernel("tfrt_test.read_string_from_file", results=("object",), blocking=True)
def read_string_from_file(path: object) -> str:
    """Return the contents of the file at `path`."""
    try:
        return _read_ordinary_file(expect(str, path))
    except (OSError, ValueError):
        raise KernelError(f"failed to read from file {path}") from None


def _read_ordinary_file(path: str) -> str:
    """Return the text of a file.

    Raises:
        OSError: if the file cannot be read.
        ValueError: if the file is not a regular file or is too large, or if the path is invalid.
    """
    # Open without blocking: opening a named pipe would wait for a writer.
    with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode) or status.st_size > MAXIMUM_FILE_SIZE:
            raise ValueError(path)
        return file.read(MAXIMUM_FILE_SIZE).decode(errors="surrogateescape")
