"""Recognize noisy digits of 5 x 3 points with a small network that is trained here."""

import numpy as np

import tfrt_nb as tfrt

SHAPES = "75557 26227 71747 71717 55711 74717 74757 71111 75757 75717"
DIGITS = np.array(
    [[int(b) for row in shape for b in f"{int(row):03b}"] for shape in SHAPES.split()]
)
RANDOM = np.random.default_rng(0)


def noisy(digits: np.ndarray) -> np.ndarray:
    return DIGITS[digits] + RANDOM.normal(0, 0.15, (len(digits), 15))


@tfrt.kernel("net.scores")
def scores(weights: np.ndarray, images: np.ndarray) -> np.ndarray:
    powers = np.exp(images @ weights)
    return powers / powers.sum(axis=1, keepdims=True)


@tfrt.kernel("net.step")
def step(
    weights: np.ndarray, found: np.ndarray, images: np.ndarray, wanted: np.ndarray
) -> np.ndarray:
    return weights - 0.5 / len(images) * images.T @ (found - wanted)


@tfrt.kernel("net.best")
def best(found: np.ndarray) -> np.ndarray:
    return found.argmax(axis=1)


@tfrt.program
def train(weights: np.ndarray, images: np.ndarray, wanted: np.ndarray, rounds: tfrt.i32):  # type: ignore[no-untyped-def]
    return tfrt.repeat(rounds, lambda w: step(w, scores(w, images), images, wanted), weights)


@tfrt.program
def classify(weights: np.ndarray, images: np.ndarray):  # type: ignore[no-untyped-def]
    return best(scores(weights, images))


def main() -> None:
    digits = RANDOM.integers(0, 10, 500)
    weights = train(np.zeros((15, 10)), noisy(digits), np.eye(10)[digits], 200)
    asked = np.arange(10)
    (trained,) = weights  # an AsyncValue: the second program waits for the first
    found = classify(trained, noisy(asked)).result(60)
    print("asked", asked.tolist())
    print("found", found.tolist())


if __name__ == "__main__":
    main()
