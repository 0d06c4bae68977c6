"""Draw the README's animation of a real run: `python docs/picture.py > docs/picture.svg`.

Each line of the program gets its dot and its value at the moment when the run resolved it.
"""

from __future__ import annotations

import html
import time
from collections.abc import Callable

import tfrt_nb as tfrt

LINES = [
    "%one   = tfrt.constant.i32 1",
    "%left  = demo.wait.i32 %one {seconds = 0.7}",
    "%right = demo.wait.i32 %one {seconds = 1.3}",
    "%twice = tfrt.add.i32 %left, %left",
    "%sum   = tfrt.add.i32 %left, %right",
    "%quick = tfrt.add.i32 %one, %one",
]
PROGRAM = """
func.func @main() -> (i32, i32, i32, i32, i32, i32) {
  %one = tfrt.constant.i32 1
  %left = demo.wait.i32 %one {seconds = 0.7}
  %right = demo.wait.i32 %one {seconds = 1.3}
  %twice = tfrt.add.i32 %left, %left
  %sum = tfrt.add.i32 %left, %right
  %quick = tfrt.add.i32 %one, %one
  tfrt.return %one, %left, %right, %twice, %sum, %quick : i32, i32, i32, i32, i32, i32
}"""
SECONDS = 3.2
"""The duration of the animation, which then starts again."""
START, ROW, WIDTH = 0.5, 26, 640


def resolved() -> list[tuple[float, object]]:
    """Return when each value of a run was resolved, in seconds after the start, and the value."""
    times: dict[int, float] = {}
    program = tfrt.Program(PROGRAM)

    def noted(at: int) -> Callable[[object], None]:
        return lambda _: times.__setitem__(at, time.monotonic())

    program.run().wait()  # the first run loads the core
    start = time.monotonic()
    run = program.run()
    for at, value in enumerate(run.results):
        value.add_done_callback(noted(at))
    values = [value.result(timeout=60) for value in run.results]
    return [(times[at] - start, value) for at, value in enumerate(values)]


def row(at: int, line: str, seconds: float, value: object) -> str:
    """Draw a line of the program: its dot turns green, and its value appears."""
    y = 40 + at * ROW
    when = (START + seconds) / SECONDS
    change = (
        f"dur='{SECONDS}s' repeatCount='indefinite' calcMode='discrete' keyTimes='0;{when:.3f}'"
    )
    shown = "<animate attributeName='opacity' values='{};{}' {}/>"
    return (
        f"<circle cx='22' cy='{y - 4}' r='6' fill='none' stroke='#888' stroke-width='1.5'>"
        f"{shown.format(1, 0, change)}</circle>"
        f"<circle cx='22' cy='{y - 4}' r='6' fill='#009e73'>{shown.format(0, 1, change)}</circle>"
        f"<text x='42' y='{y}'>{html.escape(line).replace(' ', '&#160;')}</text>"
        f"<text x='470' y='{y}' fill='#009e73'>{shown.format(0, 1, change)}"
        f"{html.escape(str(value))}&#160;&#160;after {seconds * 1000:.0f} ms</text>"
        f"<text x='470' y='{y}' fill='#888'>{shown.format(1, 0, change)}waiting</text>"
    )


def picture() -> str:
    """Return the picture as SVG; without animation, it shows the end of the run."""
    rows = "".join(
        row(at, line, *found)
        for at, (line, found) in enumerate(zip(LINES, resolved(), strict=True))
    )
    height = 36 + len(LINES) * ROW
    return (
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {WIDTH} {height}' width='{WIDTH}' "
        "role='img' aria-label='Six values of a program become available, each at its own time' "
        "font-size='13' font-family='ui-monospace, Menlo, Consolas, monospace' "
        f"fill='#57606a'><rect x='1' y='1' width='{WIDTH - 2}' height='{height - 2}' rx='8' "
        f"fill='#f6f8fa' stroke='#d0d7de'/>{rows}</svg>\n"
    )


if __name__ == "__main__":
    print(picture(), end="")
