"""A tensor as a small picture: a heat map that any page can draw."""

from __future__ import annotations

import struct
import zlib
from base64 import b64encode
from typing import Any, NamedTuple

from tfrt_runtime.host.payload import as_python

MAX_SIDE = 64
"""The maximum number of rows and of columns. A larger tensor is sampled at even steps."""
MAX_SCALED = 1 << 22
"""The maximum number of elements from which the scale is computed.

A larger tensor's scale is computed from the sample.
"""
COLORS = ((68, 1, 84), (33, 145, 140), (253, 231, 37))
"""The colors of low, middle, and high numbers.

They go from dark to light, so that people without color vision can see the order, too.
"""
NO_NUMBER = (128, 128, 128)


class HeatMap(NamedTuple):
    """A picture as a `data:image/png…` URL, with the smallest and the largest finite element."""

    address: str
    low: float | None
    high: float | None


def heat_map(payload: object) -> HeatMap | None:
    """Return a picture of a dense tensor's numbers, or None for any other payload.

    If a tensor has more than two dimensions, the picture is a stack of its rows.
    """
    tensor: Any = as_python(payload)
    # Only numpy's own arrays: a subclass may hide elements, and other arrays have other methods.
    kind = tensor.dtype.kind if type(tensor).__name__ == "ndarray" else ""
    if kind not in ("b", "i", "u", "f") or tensor.ndim < 1 or tensor.size < 2:
        return None
    import numpy as np  # the value is an array, so numpy is loaded

    grid = tensor.reshape(-1, tensor.shape[-1])
    rows, columns = (-(-side // MAX_SIDE) for side in grid.shape)
    sample = grid[::rows, ::columns].astype(np.float64)
    known = np.isfinite(sample)
    numbers = grid[np.isfinite(grid)] if grid.size <= MAX_SCALED else sample[known]
    low, high = (float(numbers.min()), float(numbers.max())) if numbers.size else (None, None)
    # Halves, because the difference of two large floats may be infinite. The limit keeps the
    # quotient finite.
    half = 0.0 if low is None or high is None else high / 2 - low / 2
    scale = 254 / half if half > 1e-300 else 0.0
    shades = np.where(known, (np.where(known, sample, 0) / 2 - (low or 0) / 2) * scale + 1, 0)
    address = "data:image/png;base64," + b64encode(_png(shades.astype(np.uint8))).decode()
    return HeatMap(address, low, high)


def _png(shades: Any) -> bytes:
    """Return a PNG with a palette.

    The shade 0 represents NaN and infinities, and the shades 1 to 255 represent low to high
    numbers.
    """
    height, width = shades.shape
    steps = [(place * (len(COLORS) - 1)) / 254 for place in range(255)]
    palette = [NO_NUMBER, *(_between(step) for step in steps)]
    # A row of a PNG starts with its filter; 0 means none.
    rows = b"".join(b"\0" + row.tobytes() for row in shades)
    parts = (
        # 8 bits per pixel; 3 means that pixels are indexes of the palette.
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)),
        (b"PLTE", bytes(channel for color in palette for channel in color)),
        (b"IDAT", zlib.compress(rows)),
        (b"IEND", b""),
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(map(_part, *zip(*parts, strict=True)))


def _part(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def _between(step: float) -> tuple[int, ...]:
    place = min(int(step), len(COLORS) - 2)
    pairs = zip(COLORS[place], COLORS[place + 1], strict=True)
    return tuple(round(a + (b - a) * (step - place)) for a, b in pairs)
