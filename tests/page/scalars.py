"""Print each scalar operation's results for numbers at the limits of its types.

See `test_page`.
"""

import itertools
import math
import struct

from tfrt_nb.programs import Program
from tfrt_runtime.host.context import HostContext
from tfrt_runtime.scalars import BITS, FLOATS, OPERATIONS


def source():
    """Return a module with a function for each operation, on the executor and with `tfrt.sync`."""
    lines = []
    for one in OPERATIONS.values():
        operands = ", ".join(f"%a{i}" for i in range(len(one.operands)))
        parameters = ", ".join(f"%a{i}: {word}" for i, word in enumerate(one.operands))
        results = ", ".join(f"%r{i}" for i in range(len(one.results)))
        types = ", ".join(one.results)
        for name, attributes in ((one.name, ""), (one.sync_name, " attributes {tfrt.sync}")):
            lines.append(f"func @{name}({parameters}) -> ({types}){attributes} {{")
            lines.append(f"  {results} = {name} {operands}\n  tfrt.return {results} : {types}\n}}")
    return "\n".join(lines)


def edges(word):
    if word == "i1":
        return [False, True]
    if word in FLOATS:
        return [0.0, -0.0, 1.5, -2.5, 300.0, 2.0**31, -(2.0**63), 1e30, -math.inf, math.nan]
    half = 1 << (BITS[word] - 1)
    return [-half, -1, 0, 1, 7, BITS[word], half - 1]


def written(value):
    """Return a number with its sign, even that of a zero; the sign of a NaN has no meaning."""
    if isinstance(value, float) and not math.isnan(value):
        return struct.pack(">d", value).hex()
    return str(value)


host = HostContext("s", output=lambda _: None)
program = Program.from_source(source(), "scalars")
for one in OPERATIONS.values():
    for name in (one.name, one.sync_name):
        outcomes = []
        for values in itertools.product(*map(edges, one.operands)):
            run = program.run(host, name, list(values))
            run.wait(60)
            for value in run.results:
                wrong = value.exception(0)
                outcomes.append(written(value.result(0)) if wrong is None else str(wrong))
        print(name, *outcomes, sep="|")
