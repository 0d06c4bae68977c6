"""Draw the tutorials' pictures.

`python notebooks/pictures.py > notebooks/tutorials.svg` compares four ways to wait. `demo.py
--save` draws the other pictures, from the runs of cells tagged `watch`, which are saved without
outputs.
"""

from __future__ import annotations

import html
import re
from dataclasses import dataclass, replace
from textwrap import wrap

FONT = "ui-monospace, Menlo, Consolas, monospace"
SANS = "system-ui, 'Segoe UI', Helvetica, Arial, sans-serif"
SECONDS = {"ns": 1e-9, "µs": 1e-6, "ms": 1e-3, "s": 1.0}
COLORS = {"available": "#009e73", "error": "#d55e00", "cancelled": "#777", "skipped": "#777"}
"""Okabe and Ito's green and vermilion; the word beside each says the same."""
_TIMES = re.compile(r"([\d.]+) (ns|µs|ms|s) \+ ([\d.]+) (ns|µs|ms|s)$")
_TYPE = re.compile(r"(?:[iuf]+\d+|index|tensor|!|object)")
_EXPRESSION = re.compile(r"  \S \w+ +(?!result|return)\S")
"""Matches a row of a traced program's board, whose values have the names used in the source."""
_THREAD = re.compile(r"[a-z][a-z -]*(?: \d+)?$")
_BY_HAND = re.compile(r"%%tfrt .*--no-wait.* --in (\w+)")
HELD, START, ROW, WIDTH, THREADS = 4.0, 0.6, 24, 760, 90
"""Seconds of a run's end and before its start; then a row's, the picture's, and a column's size."""


@dataclass(frozen=True)
class Value:
    """A row of a board: a value's name, its last state, its text, and when it came.

    Times are seconds after the start of the run. `seconds` is None if the board has no time because
    the value was decided when the run ended. `began` is when the value's kernel started, and
    `thread` is where, unless the board is simple.
    """

    name: str
    state: str
    text: str
    seconds: float | None
    began: float | None = None
    thread: str = ""


def values_of(table: str) -> list[Value]:
    """Return the values in a board's text, without the rows of results."""
    found = []
    is_traced = re.search(r"(?m)^  \S \w+ +%", table) is None
    for line in table.splitlines():
        state, name, *rest = [*re.split(r"\s{2,}", line.strip()), ""]
        times = _TIMES.search(line)
        if not (name.startswith(("%", "@")) or (is_traced and _EXPRESSION.match(line))):
            continue
        word = state.rpartition(" ")[2]
        seconds = began = 0.0 if word == "available" else None
        thread = ""
        if times:
            begin, begin_unit, took, unit = times.groups()
            began = float(begin) * SECONDS[begin_unit]
            seconds = began + float(took) * SECONDS[unit]
            column = line[: times.start()].rstrip().rpartition("  ")[2]
            thread = column if _THREAD.match(column) and not _TYPE.match(column) else ""
        shown = "" if _TYPE.match(rest[0]) else rest[0]
        found.append(Value(name, word, shown, seconds, began, thread))
    return found


def run_picture(source: str, table: str, *, is_simple: bool = False) -> str:
    """Draw a run as SVG: its lines with their values, times, and threads, and what it printed.

    If `is_simple`, the threads are left out. The picture shows the end of the run at first, on
    paper, and to readers who prefer no motion. For all others, it then replays the run repeatedly:
    each line gets its state at the time when the run resolved it.
    """
    lines = lines_of(source)
    # Rows without a time are constants, which came at once, or arguments, whose time is unknown.
    values = [
        one
        for one in (
            replace(one, thread="" if is_simple else one.thread) for one in values_of(table)
        )
        if one.state != "unavailable"
        and (one.seconds != 0 or one.name in lines or one.name.startswith("@") or not lines)
    ]
    end = max(one.seconds or 0.0 for one in values) + 0.2
    rows = "".join(
        _row(at, lines.get(one.name, one.name), one, end, _is_by_hand(one, values, source))
        for at, one in enumerate(values)
    )
    notes = _notes_of(table)
    below = 40 + len(values) * ROW
    texts = "".join(
        f"<text x='42' y='{below + at * ROW - 4}' fill='#24292f'>{_spaced(note)}</text>"
        for at, note in enumerate(notes)
    )
    return _svg(
        below - 4 + len(notes) * ROW,
        rows + texts,
        FONT,
        "A run: each value gets its state when it comes",
        WIDTH + THREADS * any(one.thread for one in values),
    )


def _is_by_hand(value: Value, values: list[Value], source: str) -> bool:
    """Return whether a value came when or after a person filled the box that the run waited for."""
    named = _BY_HAND.match(source)
    filled = next((one.seconds for one in values if named and one.name == f"%{named[1]}"), None)
    return filled is not None and value.seconds is not None and value.seconds >= filled


def _notes_of(table: str) -> list[str]:
    """Return what a run printed, in a line, and then the message below its board."""
    above, _, below = re.split(r"(?m)^\S* ?(@\w+: )", table, maxsplit=1)
    printed = [line for line in above.splitlines() if line]
    message = " ".join(line for line in below.splitlines()[1:] if not line.startswith("  "))
    return wrap(f"printed: {', then '.join(printed)}" if printed else "", 88) + wrap(message, 88)


def lines_of(source: str) -> dict[str, str]:
    """Return the source line of each value; a second result in a line has only its own name."""
    return {
        name: name if at else line
        for line in source.splitlines()
        if re.match(r"\s*%[^({]*=", line)
        for at, name in enumerate(re.findall(r"%\w+", line.partition("=")[0]))
    }


SLIDES = {
    "02_graph": "Which of the six waits may take a second longer, and the run does not?",
    "05_calls": "Both calls return their first argument. Why does one come at once?",
    "04_errors": "The deadline is two seconds. Which results does the caller have?",
    "08_threads": "Two workers, four requests. Why does %quick come so late?",
}
"""The runs shown to a class as slides: for each picture of a tutorial, the question to ask."""
SLIDE_HEIGHT, SLIDE_WIDTH, AXIS, AXIS_END = 720, 1280, 800, 1130


def slide(question: str, source: str, table: str) -> str:
    """Draw a run as a slide with a question: each line of the program, and when its value came.

    The SVG is animated; without animation, it shows the end of the run.
    """
    values = [one for one in values_of(table) if one.name.startswith("%")]
    end = max(one.seconds or 0.0 for one in values)
    lines, row = lines_of(source), min(90, 500 // len(values))
    rows = "".join(
        _bar(130 + at * row, lines.get(one.name, one.name), one, end)
        for at, one in enumerate(values)
    )
    bottom = 110 + len(values) * row
    ticks = "".join(
        f"<path d='M{_x(second, end)} 90V{bottom}' stroke='#d0d7de'/>"
        f"<text x='{_x(second, end)}' y='{bottom + 24}' text-anchor='middle' "
        f"font-size='18'>{second} s</text>"
        for second in range(round(end) + 1)
    )
    asked = (
        f"<text x='48' y='60' font-size='30' fill='#24292f' font-family=\"{SANS}\">"
        f"{html.escape(question)}</text>"
    )
    return _svg(SLIDE_HEIGHT, asked + ticks + rows, FONT, question, SLIDE_WIDTH)


def _x(seconds: float, end: float) -> float:
    """Return the horizontal position of a time on a slide of a run that takes `end` seconds."""
    return round(AXIS + (AXIS_END - AXIS) * seconds / (max(end, 1.0)), 1)


def _bar(y: int, line: str, value: Value, end: float) -> str:
    """Draw a line of the program on a slide, with a bar that grows while its kernel runs."""
    color, total = COLORS[value.state], START + end + 3.0
    began, seconds = value.began or 0.0, end if value.seconds is None else value.seconds
    x, width = _x(began, end), max(3.0, _x(seconds, end) - _x(began, end))
    change = f"dur='{total:.1f}s' repeatCount='indefinite'"
    when = [0, (START + began) / total, (START + seconds) / total, 1]
    grows = (
        f"<animate attributeName='width' values='0;0;{width:.1f};{width:.1f}' {change} keyTimes='"
    )
    grows += ";".join(f"{one:.3f}" for one in when) + "'/>"
    appears = f"<animate attributeName='opacity' values='0;1' {change} calcMode='discrete' "
    appears += f"keyTimes='0;{when[2]:.3f}'/>"
    words = value.text if value.state == "available" else value.state
    shown = re.sub(r" : .*", "", line).strip()
    drawn = (
        ""
        if value.began is None
        else (
            f"<rect x='{x}' y='{y - 16}' width='{width:.1f}' height='20' rx='3' "
            f"fill='{color}'>{grows}</rect>"
        )
    )
    return (
        f"<circle cx='60' cy='{y - 7}' r='10' fill='none' stroke='#888' stroke-width='2'/>"
        f"<circle cx='60' cy='{y - 7}' r='10' fill='{color}'>{appears}</circle>"
        f"<text x='88' y='{y}' font-size='21' fill='#24292f'>{_spaced(shown)}</text>{drawn}"
        f"<text x='{x + width + 10:.1f}' y='{y}' font-size='21' fill='{color}'>{appears}"
        f"{_spaced(words[:12])}</text>"
    )


def _row(at: int, line: str, value: Value, end: float, by_hand: bool) -> str:
    """Draw a line of the program with its value and time.

    If animated, both appear at that time, in a run that finishes at `end`. If the value came
    `by_hand`, the time is left out, because it would only say how long the person took.
    """
    y, color = 40 + at * ROW - 8, COLORS[value.state]
    shown = re.sub(r" : .*", "", line).strip()
    seconds = end if value.seconds is None or by_hand else value.seconds
    words = (value.state == "available" and value.text) or value.state
    after = "at once" if seconds < 0.1 else f"after {seconds:.1f} s"
    if value.seconds is None:
        after = "at the end"
    elif by_hand:
        after = "when filled"
    return (
        f"<style>{_motion(at, seconds, end)}</style>"
        f"<circle cx='22' cy='{y - 4}' r='6' fill='none' stroke='#888' stroke-width='1.5'/>"
        f"<circle class='is{at}' cx='22' cy='{y - 4}' r='6' fill='{color}'/>"
        f"<text x='42' y='{y}'>{_spaced(shown)}</text>"
        f"<text class='is{at}' x='500' y='{y}' "
        f"fill='{color}'>{_spaced(f'{words[:15]:16} {after:13} {value.thread}'.rstrip())}</text>"
        f"<text class='not{at}' x='500' y='{y}' fill='#888' opacity='0'>not there yet</text>"
    )


def _motion(at: int, seconds: float, end: float) -> str:
    """Return the style that hides row `at` from the start of a run until `seconds` later.

    Readers who prefer no motion always see the row.
    """
    total = HELD + START + end
    begin, come = (f"{100 * x / total:.2f}%" for x in (HELD, HELD + START + seconds))
    moves = "".join(
        f"@keyframes {name}{at}{{0%{{opacity:{still}}}{begin}{{opacity:{1 - still}}}{come}{{opacity:{still}}}}}"  # noqa: E501
        f".{name}{at}{{animation:{name}{at} {total:.1f}s step-end infinite}}"
        for name, still in (("is", 1), ("not", 0))
    )
    return f"@media screen and (prefers-reduced-motion:no-preference){{{moves}}}"


def _spaced(text: str) -> str:
    return html.escape(text).replace(" ", "&#160;")


def _svg(height: int, body: str, font: str, label: str, width: int = WIDTH) -> str:
    return (
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width} {height}' width='{width}' "
        f"role='img' "
        f"aria-label='{html.escape(label)}' font-size='13' font-family=\"{font}\" fill='#57606a'>"
        f"<rect x='1' y='1' width='{width - 2}' height='{height - 2}' rx='8' fill='#f6f8fa' "
        f"stroke='#d0d7de'/>"
        f"{body}</svg>\n"
    )


WAYS = (
    ("", "asyncio", "futures", "Dask", "tfrt-nb"),
    (
        "you write",
        "async def, await",
        "submit(f, x)",
        "delayed(f)(x)",
        "kernels in a program,|or traced Python",
    ),
    (
        "while it waits",
        "an await keeps no|thread; one loop|has all the waits",
        "result() keeps|a thread",
        "no thread: the|scheduler hands out|tasks that are ready",
        "no thread: a note|at the empty box|starts what is ready",
    ),
    (
        "ordered by",
        "lines of a coroutine",
        "your calls|of result()",
        "arguments of tasks",
        "values, and chains|for effects",
    ),
    (
        "it runs on",
        "one thread",
        "a pool of threads|or processes",
        "many processes,|many machines",
        "all processors",
    ),
    (
        "it shows you",
        "nothing by itself",
        "done, or not",
        "a dashboard of|tasks and workers",
        "each value as it|comes, and every|order that is possible",
    ),
)
"""The rows of the comparison; a vertical bar separates the lines of a cell."""


def comparison() -> str:
    """Draw the comparison of four ways to wait, as SVG."""
    parts, y = [], 34
    for row in WAYS:
        for column, cell in enumerate(row):
            x = 16 + (0 if column == 0 else 124 + (column - 1) * 155)
            style = " font-weight='bold'" if column == 0 or row is WAYS[0] else ""
            color = (
                "#009e73" if row is WAYS[0] and column == 4 else "#24292f" if column else "#57606a"
            )
            for at, line in enumerate(cell.split("|")):
                parts.append(
                    f"<text x='{x}' y='{y + 17 * at}' fill='{color}'{style}>{_spaced(line)}</text>"
                )
        y += 17 * max(len(cell.split("|")) for cell in row) + 18
        parts.append(f"<path d='M16 {y - 21}H{WIDTH - 16}' stroke='#d0d7de'/>")
    return _svg(y - 12, "".join(parts[:-1]), SANS, "Four ways to wait, compared")


if __name__ == "__main__":
    print(comparison(), end="")
