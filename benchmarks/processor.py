"""Determine the kind of processor: results are saved by kind, and compared across kinds."""

from __future__ import annotations

import platform
import re
from collections.abc import Mapping
from pathlib import Path

CPUINFO = Path("/proc/cpuinfo")
CACHES = Path("/sys/devices/system/cpu/cpu0/cache")
KINDS = (
    (23, 0x00, "Zen"),
    (23, 0x30, "Zen 2"),
    (25, 0x00, "Zen 3"),
    (25, 0x10, "Zen 4"),
    (25, 0x20, "Zen 3"),
    (25, 0x60, "Zen 4"),
    (26, 0x00, "Zen 5"),
)
"""The kinds of AMD cores: their families, and the first model of each kind.

Virtual machines hide the model's name.
"""


def processor(cpuinfo: str) -> str:
    """Return the model's name in the text of /proc/cpuinfo, with the kind of core if known."""
    fields = dict(re.findall(r"^([\w ]+?)\s*:[ \t]*(.*)$", cpuinfo, re.MULTILINE))
    name = fields.get("model name") or platform.machine()
    if fields.get("vendor_id") != "AuthenticAMD":
        return name
    family, model = int(fields["cpu family"]), int(fields["model"])
    kinds = [kind for of, first, kind in KINDS if of == family and first <= model]
    return f"{name} ({kinds[-1]})" if kinds else name


def slug(name: str, caches: Mapping[str, str]) -> str:
    """Return the name of a processor's results file: its name and the size of its L2 cache."""
    words = f"{name} {caches.get('L2', '')}".lower().replace("(r)", "").replace("(tm)", "")
    return re.sub(r"[^a-z0-9]+", "-", words).strip("-")


def cache_sizes(folder: Path = CACHES) -> dict[str, str]:
    """Return the sizes of the data caches, as Linux writes them: `{"L1": "32K", "L2": "512K"}`."""
    sizes = {}
    for index in sorted(folder.glob("index*")):
        level, kind, size = (
            (index / name).read_text().strip() for name in ("level", "type", "size")
        )
        if kind != "Instruction":
            sizes[f"L{level}"] = size
    return sizes


def here() -> tuple[str, dict[str, str]]:
    """Return this machine's processor, and its caches."""
    return processor(CPUINFO.read_text() if CPUINFO.exists() else ""), cache_sizes()
