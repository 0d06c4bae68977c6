"""Test how the timeline draws arrows, waits, and calls that fail."""

from __future__ import annotations

from .test_concurrency import RUN, WAITS, Show, drawn, watched
from .test_views import LATE, document, events, open_tab, show

__all__ = ["show"]  # the fixture


def test_an_arrow_to_a_kernel_of_the_same_thread_does_not_cross_out_names(show: Show) -> None:
    text = """func.func @main(%x: i32) -> i32 {
  %a = tfrt.add.i32 %x, %x
  %b = tfrt.mul.i32 %x, %x
  %c = tfrt.add.i32 %a, %a
  tfrt.return %c : i32
}"""
    times = ((0, 10), (20, 4_000), (4_100, 5_000))
    log = events(
        (0, "call", -1, 0, 0),
        *(
            row
            for op, (begin, end) in enumerate(times)
            for row in ((begin, "begin", op, -1, 0), (end, "available", op, op + 1, 0))
        ),
    )
    page = show(document(text, events=log, workers=["worker 1"]))
    page.evaluate(
        """() => {
          const { prototype } = CanvasRenderingContext2D, { clearRect, lineTo, fillText } = prototype;
          prototype.clearRect = function (...all) { window.order = []; clearRect.apply(this, all); };
          prototype.lineTo = function (x, y) { window.order.push(["line", y]); lineTo.call(this, x, y); };
          prototype.fillText = function (text, x, y) { window.order.push([text, y]); fillText.call(this, text, x, y); };
        }"""  # noqa: E501
    )
    open_tab(page, "Timeline")
    order = drawn(page, "() => window.order")
    (name,) = [at for at, (text, _) in enumerate(order) if text == "%b"]
    lines = [at for at, line in enumerate(order) if line == ["line", order[name][1]]]
    assert lines and max(lines) < name


def test_a_wait_that_ends_stays_below_the_threads(show: Show) -> None:
    log = {name: column[:5] for name, column in RUN.items()} | {"kinds": RUN["kinds"]}
    running = {**document(WAITS, events=log, workers=["worker 1", "timers"]), "status": "running"}
    for data in (running, document(WAITS, events=RUN, workers=["worker 1", "timers"])):
        texts = {text: y for text, _, y in drawn(watched(show, data, "Timeline"))}
        assert texts["worker 1"] < texts["%left"]


def test_of_several_calls_only_the_one_that_failed_is_red(show: Show) -> None:
    log = events(
        (0, "call", -1, 0, 0),
        (10, "begin", 0, -1, 0),
        (1_000, "error", 0, 1, 0),
        (2_000, "begin", 0, -1, 0),
        (3_000, "available", 0, 1, 0),
    )
    log["instance"] = [1, 2, 2, 3, 3]
    page = watched(show, document(LATE, events=log, workers=["worker 1"]), "Timeline")
    error, kernel = page.evaluate(
        """() => ["error", "kernel0"].map(name =>
          getComputedStyle(document.querySelector(".tfrt-board")).getPropertyValue(`--${name}`))"""
    )
    colors = [color for color, *_ in drawn(page, "() => window.rects")]
    assert (colors.count(error), colors.count(kernel)) == (1, 1)
    page.evaluate("() => store.goTo(500)")
    assert error not in [color for color, *_ in drawn(page, "() => window.rects")]
