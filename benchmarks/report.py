"""Write results as text, as a page with tables and ratios, and as pictures."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from html import escape
from pathlib import Path

from benchmarks.cases import CASES, Case

OURS = "tfrt-nb"
RESULTS = Path(__file__).parent / "results"
BAR, ROW, LEFT, RIGHT = 420, 18, 250, 90
"""Sizes in a picture: the longest bar, the height of a row, and the space for names and numbers."""


@dataclass(frozen=True, slots=True)
class Result:
    """The time of a work per operation, in `unit`.

    `cpu` is the minimum processor time of all the work's threads; `foreign` is how many processors
    the rest of the machine used meanwhile.
    """

    case: str
    peer: str
    variant: str
    cores: int
    is_equal: bool
    unit: str
    min: float
    median: float
    cpu: float
    samples: int
    foreign: float

    @property
    def label(self) -> str:
        """The peer and the way in which it does the work."""
        return f"{self.peer}: {self.variant}"


@dataclass(frozen=True, slots=True)
class Results:
    """All results of one run."""

    machine: str
    missing: dict[str, str]
    results: list[Result]
    blas: dict[str, str] = field(default_factory=dict)
    """The BLAS kernels of each process."""
    processor: str = "here"
    """The kind of processor, as a file name."""

    def of(self, case: Case) -> list[Result]:
        """Return the results of a case."""
        return [result for result in self.results if result.case == case.key]


def number(value: float) -> str:
    """Format a number with its significant digits."""
    return f"{float(f'{value:.3g}'):,.10g}".replace(",", " ")


def table(case: Case, results: Sequence[Result]) -> str:
    """Return the results of a case for a terminal."""
    head = f"{case.row} ({case.key}): {case.title}, {case.unit}"
    if not results:
        return f"{head}: nothing could be measured"
    head += f"; others used {results[0].foreign:.1f} processors"
    width = max(len(result.label) for result in results)
    lines = [head, f"  {'':{width}}  on  {'least':>10}  {'median':>10}  {'processor':>10}"]
    lines += [
        f"  {result.label:{width}}  {result.cores:2}  {number(result.min):>10}"
        f"  {number(result.median):>10}  {number(result.cpu):>10}"
        f"{'' if result.is_equal else '  (makes no values)'}"
        for result in results
    ]
    lines += [f"  {line}" for line in verdicts(results)]
    return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class Verdict:
    """Our best and the peers' best of equal semantics, on the same number of processors."""

    ours: Result
    peer: Result

    @property
    def ratio(self) -> float:
        """The ratio of times; above 1, the peer is faster."""
        return self.ours.min / self.peer.min

    @property
    def cpu_ratio(self) -> float:
        """The ratio of processor times, which other load on the machine disturbs less."""
        return self.ours.cpu / max(self.peer.cpu, 1e-9)


def compared(results: Sequence[Result]) -> list[Verdict]:
    """Return, for each number of processors, our best and the peers' best of equal semantics."""
    found = []
    for cores in sorted({result.cores for result in results}):
        equal = [result for result in results if result.cores == cores and result.is_equal]
        ours = [result for result in equal if result.peer == OURS]
        peers = [result for result in equal if result.peer != OURS]
        if ours and peers:
            found.append(Verdict(min(ours, key=lambda r: r.min), min(peers, key=lambda r: r.min)))
    return found


def verdicts(results: Sequence[Result]) -> list[str]:
    """Return the results of `compared` as sentences."""
    return [
        f"on {verdict.ours.cores}: {verdict.ratio:.2f} of {verdict.peer.label}"
        f" ({verdict.cpu_ratio:.2f} in processor time)"
        for verdict in compared(results)
    ]


def write(results: Results, folder: Path) -> None:
    """Write `<processor>.json`, a picture for each group of cases, and `results.md`.

    `results.md` has the results of all processors in the folder.
    """
    folder.mkdir(parents=True, exist_ok=True)
    records = ",\n".join(
        json.dumps(
            {
                name: float(f"{value:.4g}") if isinstance(value, float) else value
                for name, value in asdict(result).items()
            }
        )
        for result in results.results
    )
    about = {"machine": results.machine, "missing": results.missing, "blas": results.blas}
    head = json.dumps(about)[:-1]
    (folder / f"{results.processor}.json").write_text(f'{head}, "results": [\n{records}\n]}}\n')
    for group in groups(results):
        (folder / f"{results.processor}.{group}.svg").write_text(picture(results, group))
    (folder / "results.md").write_text(page(saved(folder)))
    print(f"Written to {folder}")


def saved(folder: Path) -> list[Results]:
    """Return the results of each kind of processor in a folder."""
    found = []
    for path in sorted(folder.glob("*.json")):
        fields = json.loads(path.read_text())
        records = [Result(**record) for record in fields.pop("results")]
        found.append(Results(**fields, results=records, processor=path.stem))
    return found


def groups(results: Results) -> list[str]:
    """Return the groups of the measured cases, in order."""
    return list(dict.fromkeys(case.group for case in CASES if results.of(case)))


def page(machines: Sequence[Results]) -> str:
    """Return the results of all processors as Markdown."""
    lines = [
        "# Measured",
        "",
        (
            "The least of the samples, per operation. A ratio above 1 means that the peer is "
            "faster;"
            " the second one is of processor time, which others disturb less. *Others* is how many"
            " processors the rest of the machine used meanwhile. A case counts as won where its "
            "ratio is at most 1"
            " on each kind of processor that has measured it:"
            f" {len(won(machines))} of {len({key for each in machines for key in ratios(each)})}"
            " are, marked with a plus."
        ),
    ]
    for results in machines:
        lines += ["", *section(results, won(machines))]
    return "\n".join([*lines, ""])


def ratios(results: Results) -> dict[tuple[str, int], float]:
    """Return the ratios of our times to the best peer's, by case and processors."""
    return {
        (case.key, verdict.ours.cores): verdict.ratio
        for case in CASES
        for verdict in compared(results.of(case))
    }


def won(machines: Sequence[Results]) -> set[tuple[str, int]]:
    """Return the cases and processor counts in which no peer is faster on any of the machines."""
    found = [ratios(results) for results in machines]
    return {
        key for key in set().union(*found) if all(each[key] <= 1 for each in found if key in each)
    }


def section(results: Results, is_won: set[tuple[str, int]]) -> list[str]:
    """Return the results of one kind of processor as lines of Markdown."""

    def plus(case: Case, verdict: Verdict) -> str:
        return " +" if (case.key, verdict.ours.cores) in is_won else ""

    lines = [
        f"## On {results.machine}",
        "",
        (
            "| row | case | unit | processors | ours | best peer of equal semantics | | ratio"
            " | of processor time | others |"
        ),
        "|---|---|---|---:|---:|---|---:|---:|---:|---:|",
    ]
    for case in CASES:
        lines += [
            f"| {case.row} | {case.title} | {case.unit} | {verdict.ours.cores} |"
            f" {number(verdict.ours.min)} | {verdict.peer.label} | {number(verdict.peer.min)} |"
            f" {verdict.ratio:.2f}{' +' * ((case.key, verdict.ours.cores) in is_won)} | "
            f"{verdict.cpu_ratio:.2f} | {verdict.ours.foreign:.1f} |"
            for verdict in compared(results.of(case))
        ]
    lines += [
        "",
        *[f"![{group}]({results.processor}.{group}.svg)" for group in groups(results)],
        "",
        "### All figures",
        "",
    ]
    lines += [
        "Those marked * make no values that others can wait for.",
        "",
        "| row | case | who | processors | least | median | processor time |",
        "|---|---|---|---:|---:|---:|---:|",
    ]
    lines += [
        f"| {case.row} | {case.key} | {result.label}{'' if result.is_equal else ' *'} | "
        f"{result.cores} |"
        f" {number(result.min)} | {number(result.median)} | {number(result.cpu)} |"
        for case in CASES
        for result in results.of(case)
    ]
    if results.missing:
        lines += ["", "### Missing", ""]
        lines += [f"- {name}: {why}" for name, why in results.missing.items()]
    if results.blas:
        lines += ["", "### BLAS kernels", ""]
        lines += [f"- {name}: {kernels}" for name, kernels in results.blas.items()]
    return lines


def picture(results: Results, group: str) -> str:
    """Return bars for all cases of a group as SVG; each case has its own logarithmic scale."""
    body: list[str] = []
    top = ROW
    for case in CASES:
        found = results.of(case)
        if case.group != group or not found:
            continue
        body.append(text(4, top, f"{case.row}: {case.title} ({case.unit})", "head"))
        top += ROW
        least = min(result.min for result in found)
        most = max(result.min for result in found)
        decades = max(math.log10(most / least), 0.3)
        for result in sorted(found, key=lambda each: each.min):
            length = BAR * (0.05 + 0.95 * math.log10(result.min / least) / decades)
            kind = "ours" if result.peer == OURS else "peer" if result.is_equal else "less"
            label = f"{result.label}, {result.cores} processor{'s' * (result.cores > 1)}"
            body.append(text(LEFT - 6, top, label[:44], "name"))
            body.append(
                f'<rect class="{kind}" x="{LEFT}" y="{top - 12}" width="{length:.0f}" height="14"/>'
            )
            body.append(text(LEFT + round(length) + 6, top, number(result.min), "value"))
            top += ROW
        top += ROW // 2
    width = LEFT + BAR + RIGHT
    style = (
        "text{font:12px "
        "sans-serif;fill:#444}.head{font-weight:bold}.name{text-anchor:end;font-size:10px}"
        ".ours{fill:#2563a8}.peer{fill:#b0b7c0}.less{fill:#e2d3b4}"
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {top}" width="{width}">'
        f'<rect width="{width}" height="{top}" fill="#fff"/>'
        f"<style>{style}</style>\n" + "\n".join(body) + "\n</svg>\n"
    )


def text(x: int, y: int, words: str, kind: str) -> str:
    """Return a line of text in a picture."""
    return f'<text class="{kind}" x="{x}" y="{y}">{escape(words)}</text>'
