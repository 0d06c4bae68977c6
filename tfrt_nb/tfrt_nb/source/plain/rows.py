"""The lines of a text as rows: what stands before an operation, the operation, its operands, the
rest.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TypeAlias, cast

NAME = r"%(?:[0-9]+(?![\w$.-])|[A-Za-z$._-][\w$.-]*)"
"""The name of a value."""


class NotPlain(Exception):
    """Something else has to read this text."""


Row: TypeAlias = tuple[str, str, str, str, str, str, str]
"""A line, or a part of one: the groups of `_ROW`."""
_ROW = re.compile(
    r"""([ \t]* (?: (%[\w$.-]+) [ ]* ([^=\n ][^=\n]*)? =[ ]* )?)
    (?: ((?: [A-Za-z_] | "[^"\\\n\r]*") [^%\n\r/"]*) (%[\w$.\#-]+(?:,[ ]*%[\w$.\#-]+)*)?
        ([^\n\r/"]*(?:"[^"\\\n\r]*"[^\n\r/"]*)*)
        (?://[^\n]*)? (?=\n)
      | ([^\n]*) ) \n""",
    re.ASCII | re.VERBOSE,
)
"""A line: all that stands before the operation, its first result, what names further ones; the
operation up to its operands, these, the rest.  Or, of a line of another form, what stands behind
its indentation. What is taken for the name of a result need not be one.  No possessive quantifiers:
in the first releases of Python 3.11 they forget to give back what a group took in vain."""
ANY_NAME = re.compile(r"(%[\w$.\#-]+)", re.ASCII)
HOLE = "\r"
"""What stands for a name in the rest of a line, which has no such character."""
COMMENT_OR_NOTHING = re.compile(r"\s*(?://.*)?", re.ASCII)
_CLOSER = re.compile(r"[ \t]+|//.*", re.ASCII)
"""What does not count in a line that closes a body."""
_IN_ONE_LINE = re.compile(
    r"([^{}\n]*\{) ([^{}\"\n]*) (?: (\}[ ]*else[ ]*\{) ([^{}\"\n]*) )? (\})[ \t]*",
    re.ASCII | re.VERBOSE,
)
"""An operation with its regions, which have no braces and texts themselves."""
_NEXT = re.compile(
    rf"(?<=[^\s,])[ \t]+ (?= {NAME}(?:[ ]*:[ ]*[0-9]+)? (?:,[ ]*{NAME}(?:[ ]*:[ ]*[0-9]+)?)* [ ]*="
    r" | (?:(?:tfrt|hex)\.)?return\b )",
    re.ASCII | re.VERBOSE,
)
"""What stands before all but the first operation of a region in one line."""
NO_NAME = re.compile(r"%[0-9]+[^0-9 #]", re.ASCII)
"""What is in names, with blanks in between, if one of them is none."""
MAX_LINE = 2_000
"""The longest line, in characters, whose regions are taken apart."""
_CHUNK = 1 << 14
TAIL = 6
"""The group of `_ROW` that an operation ends with."""


def rows_of(text: str) -> Iterator[tuple[int, Row]]:
    """The lines of a text with their numbers.  Some hundred at a time: a program that is not plain
    is soon found out.
    """
    start, line = 0, 1
    while start < len(text):
        end = text.find("\n", start + _CHUNK) + 1 or len(text)
        chunk = text[start:end]
        rows = _ROW.findall(chunk if chunk.endswith("\n") else chunk + "\n")
        yield from enumerate(rows, line)
        line += len(rows)
        start = end


def row_of(text: str) -> re.Match[str]:
    """A line, or a part of one, as a row."""
    row = _ROW.match(text + "\n")
    assert row is not None, "every line is one"
    return row


def apart(line: int, row: Row) -> list[tuple[int, Row]]:
    """A row, or those of its parts if it has regions, each as if blanks stood in front of it in its
    line.
    """
    before, _, _, *rest = row
    found: list[tuple[int, Row]] = []
    for start, part in parts(before + "".join(rest)) or ():
        before, *rest = row_of(part).groups("")
        found.append((line, cast(Row, (" " * start + before, *rest))))
    return found or [(line, row)]


def parts(line: str) -> list[tuple[int, str]] | None:
    """The head, the operations and the braces of an operation with its regions in a line, each with
    where it starts; None of any other line.
    """
    match = _IN_ONE_LINE.fullmatch(line) if len(line) <= MAX_LINE else None
    if match is None:
        return None
    found = [(0, match[1])]
    for body, closer in ((2, 3), (4, 5)):
        start, end = match.span(body)
        while 0 <= start < end:
            cut = _NEXT.search(line, start + 1, end)
            last = end if cut is None else cut.start()
            found.append((start, line[start:last]))
            start = last
        if match[closer]:
            found.append((match.start(closer), match[closer]))
    return found


def next_closer(rows: Iterator[tuple[int, Row]]) -> tuple[int, str]:
    """The next line, which closes a body, and what it says: `}` or `}else{`."""
    for line, row in rows:
        if not is_nothing(row):
            return line, _CLOSER.sub("", "".join(row[1:]))
    raise NotPlain


def is_nothing(row: Row) -> bool:
    """Whether there is nothing in the line, or a comment."""
    return COMMENT_OR_NOTHING.fullmatch("".join(row[1:])) is not None
