"""The inputs and expected results of tensor works, which ours and the peers share."""

from __future__ import annotations

import random
from itertools import pairwise

import numpy as np
import numpy.typing as npt

Matrix = npt.NDArray[np.float32]

LAYERS = (784, 512, 256, 10)
BATCHES = (1, 64)
PRODUCTS = 64
SIZE = 256
ELEMENTS = 65_536
TERMS = 100
FACTOR, ADDEND = 0.999, 0.001


def weights() -> list[tuple[Matrix, Matrix]]:
    """Return a matrix and a row of biases for each layer of the perceptron."""
    chance = np.random.default_rng(1)
    return [
        (
            chance.normal(0, before**-0.5, (before, after)).astype(np.float32),
            chance.normal(0, 0.1, after).astype(np.float32),
        )
        for before, after in pairwise(LAYERS)
    ]


def images(batch: int) -> Matrix:
    """Return the perceptron's inputs."""
    return np.random.default_rng(2).random((batch, LAYERS[0]), np.float32)


def perceptron(values: Matrix, layers: list[tuple[Matrix, Matrix]]) -> Matrix:
    """Return the perceptron's output, computed with numpy."""
    for weight, bias in layers[:-1]:
        values = np.maximum(values @ weight + bias, 0)
    weight, bias = layers[-1]
    exponentials: Matrix = np.exp(values @ weight + bias)
    exponentials /= exponentials.sum(axis=-1, keepdims=True)
    return exponentials


def first_factor() -> Matrix:
    """Return the matrix that the graph of products starts with."""
    return np.random.default_rng(3).random((SIZE, SIZE), np.float32)


def factors() -> list[tuple[int, int]]:
    """Return, for each product, which two earlier values it multiplies; value 0 is the argument."""
    chance = random.Random(7)
    return [(chance.randint(0, i), chance.randint(0, i)) for i in range(PRODUCTS)]


def products(start: Matrix) -> Matrix:
    """Return the last product, computed with numpy, one product after another.

    Results are scaled so that numbers stay small.
    """
    values = [start]
    for left, right in factors():
        values.append((values[left] @ values[right]) * np.float32(1 / SIZE))
    return values[-1]


def check(found: object, expected: Matrix) -> None:
    """Raise an error if a result is not the expected one."""
    np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-3, atol=1e-5)
