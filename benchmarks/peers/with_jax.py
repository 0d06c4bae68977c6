"""JAX on the CPU, with functions that are compiled before the clock starts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from benchmarks import inputs, sizes
from benchmarks.work import Work, simply


def perceptron(values: Any, layers: Any) -> Any:
    """W6."""
    for weight, bias in layers[:-1]:
        values = jnp.maximum(values @ weight + bias, 0)
    weight, bias = layers[-1]
    return jax.nn.softmax(values @ weight + bias)


def products(start: Any) -> Any:
    """Return all values of W7; otherwise, unneeded ones would be removed."""
    values = [start]
    for left, right in inputs.factors():
        values.append((values[left] @ values[right]) * (1 / inputs.SIZE))
    return values


def answered(function: Callable[..., Any], *given: object) -> Any:
    """Return the result of a call in numpy's memory."""
    return np.asarray(function(*given))


def starts(add: Any) -> None:
    """Call from Python, and wait for each call."""
    for i in range(sizes.SUBMITTED):
        add(i, 1).block_until_ready()


def _works() -> Iterator[Work]:
    layers = [tuple(map(jnp.asarray, layer)) for layer in inputs.weights()]
    network, graph = jax.jit(perceptron), jax.jit(products)
    start = jnp.asarray(inputs.first_factor())
    for cores in (1, 2):
        name = f"jit, {cores} processors"
        for batch in inputs.BATCHES:
            given = inputs.images(batch)
            run = simply(partial(answered, network, given, layers))
            yield Work(f"perceptron_{batch}", name, run, cores=cores)
        run = simply(lambda: np.asarray(graph(start)[-1]))
        yield Work("products", name, run, cores=cores)
    add = jax.jit(lambda left, right: left + right)
    yield Work("start", "jit", simply(lambda: starts(add)), sizes.SUBMITTED)


WORKS = tuple(_works())
