"""numpy, on its own threads: as many as there are processors."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from benchmarks import inputs
from benchmarks.work import Work, simply


def _works() -> Iterator[Work]:
    layers = inputs.weights()
    start = inputs.first_factor()
    for cores in (1, 2):
        name = f"{cores} of its threads"
        for batch in inputs.BATCHES:
            given = inputs.images(batch)
            run = simply(partial(inputs.perceptron, given, layers))
            yield Work(f"perceptron_{batch}", name, run, cores=cores)
        yield Work("products", name, simply(lambda: inputs.products(start)), cores=cores)


WORKS = tuple(_works())
