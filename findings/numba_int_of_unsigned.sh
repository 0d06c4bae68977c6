#!/usr/bin/env bash
# Numba: `int()` of an unsigned number stays unsigned, so a difference of two of them wraps.
#
# Versions: numba 0.68.1, numpy 2.4.6, CPython 3.11.
# Behavior: Python computes int(np.uint8(3)) - int(np.uint8(250)) as -247.  Numba types `int(x)` of a uint8 as uint64, and
#   so the difference: 2**64 - 247.  `abs` changes nothing.  There is no error and no warning (numba issue 9929).
# Why it matters: image code takes differences of pixels, and writes `int(...)` just to be safe from wrapping.
# Workaround: np.int64(x) instead of int(x).
#
# Output:
#   python: -247 247
#   numba: 18446744073709551369 18446744073709551369 -247
set -euo pipefail
expected='python: -247 247
numba: 18446744073709551369 18446744073709551369 -247'

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet numba==0.68.1 numpy==2.4.6
cat >"$folder/finding.py" <<'PYTHON'
import numba
import numpy as np


def difference(a, b):
    return int(a) - int(b)


def distance(a, b):
    return abs(int(a) - int(b))


def signed(a, b):
    return np.int64(a) - np.int64(b)


pixels = np.uint8(3), np.uint8(250)
print("python:", difference(*pixels), distance(*pixels))
print("numba:", *(numba.njit(one)(*pixels) for one in (difference, distance, signed)))
PYTHON
printed=$("$folder/venv/bin/python" "$folder/finding.py")
echo "$printed"
[ "$printed" = "$expected" ] || { echo "this is another output than that of the header" >&2; exit 1; }
