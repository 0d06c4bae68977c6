"""Values and runs as widgets, for pages without our extension and for use with ipywidgets.

The widgets are built with anywidget. One thread updates all widgets and calls their observers. The
page only shows the state: if the page changes it, the change is reverted. Closing a widget also
closes its layout, which ipywidgets would otherwise keep forever.
"""

from __future__ import annotations

import math
import runpy
import threading
import uuid
import weakref
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import traitlets
from IPython.core.getipython import get_ipython

from tfrt_magics.bridge.cell_run import CellRun
from tfrt_magics.bridge.pump import Pump
from tfrt_magics.bridge.record import RUN_MIME, Document, Json
from tfrt_magics.bridge.snapshot import State
from tfrt_magics.live.lines import Line, as_json, parts_of, summary
from tfrt_magics.live.python_run import board_of
from tfrt_magics.live.values_run import Lines
from tfrt_magics.views.outlet import in_voila
from tfrt_runtime.executor.batch import Batch
from tfrt_runtime.executor.execution import Execution
from tfrt_runtime.host.values.async_value import AsyncValue

if TYPE_CHECKING:
    from tfrt_magics.bridge.live import Bundle, LiveRecord

try:
    import anywidget
    import ipywidgets
    from ipywidgets.widgets import widget as registry
except ImportError as missing:
    raise ImportError(
        "a widget needs ipywidgets and anywidget: pip install ipywidgets anywidget"
    ) from missing

MAX_TEXT = 10_000
"""The maximum length of a string that pages receive as the trait `value`."""
MAX_EXACT = 2**53
"""The largest integer that pages receive. Their 64-bit floats cannot represent all larger ones."""
KEPT = 1_000
"""How many widgets stay open after their values are resolved, if outputs cannot be replaced."""
VIEW_MIME = "application/vnd.jupyter.widget-view+json"
HERE = Path(__file__).parent
FEED = Pump()
"""The thread that updates the widgets of all sessions, because widgets work without `%load_ext`."""


@cache
def module_text(name: str) -> str:
    """Return the JavaScript module for a kind of widget.

    A wheel contains the module. In a checkout, this function joins it from its sources.
    """
    entry, bundler = HERE / "static" / f"{name}.js", HERE.parents[1] / "tfrt_pages.py"
    if not bundler.exists():
        return entry.read_text("utf-8")
    text: str = runpy.run_path(str(bundler))["joined"](entry)
    return text


def _for_page(value: object, _: object) -> object:
    """Return the trait `value` as JSON, or None if a page could not use the value."""
    match value:
        case tuple():
            return [_for_page(one, _) for one in value]
        case float():
            return value if math.isfinite(value) else None
        case int():
            return value if abs(value) <= MAX_EXACT else None
    is_clean = isinstance(value, str) and len(value) <= MAX_TEXT and value.isprintable()
    return value if is_clean else None


class LiveWidget(anywidget.AnyWidget):
    """The base of all widgets here. Its traits show the state of one value, or of several values.

    `value` is a number, a string, or None. For several values, `value` is a tuple after all values
    are available.
    """

    state = traitlets.Unicode(str(State.UNAVAILABLE)).tag(sync=True)
    value = traitlets.Any(None, allow_none=True).tag(sync=True, to_json=_for_page)
    text = traitlets.Unicode("").tag(sync=True)
    type = traitlets.Unicode("").tag(sync=True)
    error = traitlets.Unicode("").tag(sync=True)
    place = traitlets.Unicode("").tag(sync=True)
    elapsed = traitlets.Float(None, allow_none=True).tag(sync=True)

    _shown = frozenset(("state", "value", "text", "type", "error", "place", "elapsed"))
    """The traits that only the kernel sets."""

    def __init__(self, **traits: Any) -> None:
        self.over = threading.Event()
        """Set when the widget will not change again."""
        self._at_end: Callable[[], None] = lambda: None
        self._guard = threading.RLock()
        """Held while something is sent, so that only one thread sends at a time, in order."""
        # Set this here and not in the page: the page's layout would remove a width that `render`
        # sets. Chips and boards have no intrinsic width.
        traits.setdefault("layout", ipywidgets.Layout(flex="1 1 auto", min_width="0"))
        super().__init__(**traits)

    def __repr__(self) -> str:
        """Return a string without an address, so that a notebook's saved output does not vary."""
        return f"<{type(self).__name__}: {self.text or self.error or self.state}>"

    def set_state(self, sync_data: dict[str, Any]) -> None:
        """Accept the changes that a page has made.

        If the page changed a trait that shows a value, send the old value back instead.
        """
        shown = self._shown & sync_data.keys()
        super().set_state({name: each for name, each in sync_data.items() if name not in shown})
        if shown:
            self.send_state(shown)

    def close(self) -> None:
        """Remove the widget from pages and from memory, together with its layout."""
        layout = self._trait_values.get("layout")
        super().close()
        if layout is not None:
            layout.close()

    def call_at_end(self, action: Callable[[], None]) -> None:
        """Call `action` after the last change has been sent.

        If the last change has already been sent, call `action` now; otherwise, the updating thread
        calls it.
        """
        with self._guard:
            if not self.over.is_set():
                self._at_end = action
                return
        action()

    def _end(self) -> None:
        self.over.set()
        at_end, self._at_end = self._at_end, lambda: None
        at_end()

    def _set(self, traits: Mapping[str, object]) -> None:
        for name, each in traits.items():
            setattr(self, name, each)


class ValuesWidget(LiveWidget):
    """The values in a container, a batch, or a run, as rows of one widget.

    The widget sends all rows once, and then only changed rows.
    """

    _esm = module_text("values_widget")
    rows: traitlets.List[Json] = traitlets.List().tag(sync=True)
    changed = traitlets.Dict().tag(sync=True)
    _lines: Lines
    _values: Sequence[object]
    """The values, until all of them are resolved, as references that do not keep promises alive."""
    _shown = LiveWidget._shown | {"rows", "changed"}

    def __init__(self, parts: Sequence[tuple[str, object]], **traits: Any) -> None:
        """`parts` are values and other objects with their names; see `parts_of`."""
        super().__init__(**self._take(parts), **traits)
        self._follow(parts)

    @property
    def lines(self) -> Sequence[Line]:
        """The current lines. The list is updated in place, until `show` replaces it."""
        return self._lines.now

    def show(self, parts: Sequence[tuple[str, object]]) -> None:
        """Replace the values with other values."""
        with self._guard:
            taken = self._take(parts)
            with self.hold_sync():
                self._set({"changed": {}, **taken})
            self._follow(parts)

    def step(self) -> bool:
        """Send the changes. The updating thread calls this."""
        with self._guard:
            if new := self._lines.take():
                rows = {place: as_json(line) for place, line in new.items()}
                for place, row in rows.items():
                    # This sends nothing; pages that connect later get all rows.
                    self.rows[place] = row
                with self.hold_sync():
                    self.changed = {str(place): row for place, row in rows.items()}
                    self._set(standing(self._lines, self._values))
            is_over = self._lines.is_over and not self.over.is_set()
            if is_over:
                self._values = ()
        if is_over:
            self._end()
        return False

    def _take(self, parts: Sequence[tuple[str, object]]) -> dict[str, object]:
        """Store new values for the widget, and return their traits."""
        self._lines = Lines(parts)
        self._values = [
            one.for_waiter() if isinstance(one, AsyncValue) else one for _, one in parts
        ]
        rows = [as_json(line) for line in self._lines.now]
        return {"rows": rows, **standing(self._lines, self._values)}

    def _follow(self, parts: Sequence[tuple[str, object]]) -> None:
        if self._lines.is_over:
            self._values = ()
            self._end()
            return
        self.over.clear()
        FEED.start()
        self._lines.follow(parts, partial(_mark, weakref.ref(self)))


class AsyncValueWidget(ValuesWidget):
    """A widget with one value. Its line starts with `name`."""

    def __init__(self, value: AsyncValue, name: str = "value", **traits: Any) -> None:
        super().__init__([(name, value)], **traits)


class BoardWidget(LiveWidget):
    """The board of a run, made of the same modules as the board in our extension.

    The board has no controls; see `board_widget.js`.
    """

    _esm = module_text("board_widget")
    run = traitlets.Dict().tag(sync=True)
    _shown = LiveWidget._shown | {"run"}

    def __init__(self, live: LiveRecord, results: Callable[[], object], **traits: Any) -> None:
        """Show the run of `live`, watched by a pump. `results()` returns the run's results."""
        self._live, self._results = live, results
        super().__init__(**traits)
        self.on_msg(self._asked)
        # Follow first, so that the end is not missed. `_take` ignores a second end.
        live.follow(self._take)
        if live.over.is_set():
            self._take({"bundle": live.bundle()})

    def get_state(self, key: Any = None, drop_defaults: bool = False) -> Any:
        """Return the widget's state.

        A page that connects during the run gets the run's state at that moment.
        """
        if key is None and not self.over.is_set():
            self._trait_values["run"] = self._live.record.file()
        return super().get_state(key, drop_defaults)

    def bundle(self) -> Bundle:
        """Return the display data of the run's current state."""
        return self._live.bundle()

    def _take(self, message: Document) -> None:
        """Send a message of the run. The thread that publishes the run calls this."""
        with self._guard:
            if self.over.is_set():
                return
            bundle = message.get("bundle")
            if bundle is None:
                self.send({"tfrt": message})
                return
            results = parts_of(self._results())
            self.over.set()  # from now on, the state contains the end of the run
            with self.hold_sync():
                self.run = bundle[RUN_MIME]
                self._set(standing(Lines(results), [value for _, value in results]))
        self._end()

    def _asked(self, _: object, content: Document, __: object) -> None:
        """Send the events that a page has missed. Any thread may call this."""
        if isinstance(first := content.get("from"), int):
            self.send({"tfrt": self._live.since(first)})


class NoPage:
    """Stands in for the channel to pages, because only the widget shows the run."""

    @property
    def place(self) -> Document:
        return {}

    def send(self, message: Document) -> None: ...


NO_PAGE = NoPage()


def standing(lines: Lines, values: Sequence[object]) -> dict[str, object]:
    """Return all traits for `values`.

    `state` comes last, so that observers of `state` see the new values of the other traits.
    """
    now, is_over = lines.now, lines.is_over
    wrong = next((line for line in now if line.error), None)
    state = State.UNAVAILABLE if not is_over else State.AVAILABLE if wrong is None else wrong.state
    waited = [line.elapsed for line in now if line.elapsed is not None]
    plain = tuple(map(_plain, values)) if state is State.AVAILABLE else (None,)
    return {
        "text": now[0].text if len(now) == 1 else summary(now),
        "type": ", ".join(dict.fromkeys(line.type for line in now if line.type)),
        "error": "" if wrong is None else wrong.error,
        "place": "" if wrong is None else wrong.place,
        "elapsed": max(waited) if is_over and waited else None,
        "value": plain[0] if len(plain) == 1 else plain,
        "state": str(state),
    }


def _plain(value: object) -> object:
    if isinstance(value, AsyncValue):
        value = value.result(0)
    return value if isinstance(value, bool | int | float | str) else None


def _mark(this: weakref.ref[ValuesWidget]) -> None:
    """Mark the widget as changed. The thread that resolves a value calls this."""
    if (widget := this()) is not None:
        FEED.mark(widget)


def widget_of(thing: object, name: str = "value") -> LiveWidget:
    """Return the widget of a value, a run, or a batch."""
    match thing:
        case AsyncValue():
            return AsyncValueWidget(thing, name)
        case CellRun() if thing.board is not None:
            return BoardWidget(thing.board, thing.job.all_results)
        case Execution() if not isinstance(thing, Batch):
            return widget_of_run(thing)
    return ValuesWidget(parts_of(thing, name))


def widget_of_run(run: Execution) -> BoardWidget:
    """Return the board widget of a run that Python started."""
    live, results = board_of(run, NO_PAGE), run.results
    widget = BoardWidget(live, lambda: results)
    live.watch(run, FEED)
    return widget


class Html:
    """Wraps HTML so that marimo displays it, with space between the cells of its tables."""

    def __init__(self, html: str) -> None:
        # marimo's style sheet removes the padding of cells, but keeps the space between them.
        spaced = "border-collapse:separate;border-spacing:12px 4px"
        self._html = html.replace("border-collapse:collapse", spaced)

    def _mime_(self) -> tuple[str, str]:
        return "text/html", self._html


def in_marimo(thing: AsyncValue | Execution) -> LiveWidget | Html:
    """Return the object that marimo displays: a widget while `thing` is unresolved, otherwise HTML.

    The widget is necessary because marimo cannot replace an output.
    """
    if thing.done():
        return Html(thing._repr_html_())
    widget = widget_of(thing)
    widget.call_at_end(partial(_keep, widget))
    return widget


_kept: deque[LiveWidget] = deque()


def _keep(widget: LiveWidget) -> None:
    """Keep open a widget that an output shows. If there are too many, close the oldest widget."""
    _kept.append(widget)
    while len(_kept) > KEPT:
        _kept.popleft().close()


def show_until_over(
    widget: LiveWidget, bundle: Callable[[], Bundle], *, has_run: bool = False
) -> None:
    """Publish `widget` as an output, and replace the output after the widget's last change.

    In pages and in files, the data of `bundle()` replaces the widget. This function owns the widget
    and closes it when no output shows it. Where outputs cannot be replaced, the widget stays open.

    `has_run` means that the run document is published with the widget. A page with our extension
    may then draw the document until the widget is replaced.
    """
    shell = get_ipython()
    assert shell is not None  # true, because the shell has displayed an output
    transient = {"display_id": uuid.uuid4().hex}
    view, metadata = cast("tuple[Bundle, Bundle]", widget._repr_mimebundle_())
    is_fixed = _is_fixed()
    first = dict(bundle())  # a copy, because a run keeps its last bundle
    if is_fixed or not has_run:
        first.pop(RUN_MIME, None)
    first[VIEW_MIME] = view[VIEW_MIME]
    shell.display_pub.publish(first, metadata, transient=transient)

    def end() -> None:
        shell.display_pub.publish(bundle(), transient=transient, update=True)
        _keep(widget) if is_fixed else widget.close()

    widget.call_at_end(end)


def _is_fixed() -> bool:
    """Return whether this cell's outputs cannot be replaced.

    This is the case on a Voila page and in an Output widget.
    """
    if in_voila():
        return True
    known = list(registry._instances.values())
    return any(isinstance(one, ipywidgets.Output) and one.msg_id for one in known)
