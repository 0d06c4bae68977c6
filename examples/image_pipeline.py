"""An image pipeline: native kernels blur tiles and count their edges, and numpy joins the tiles."""

import numpy as np

import tfrt_nb as tfrt


@tfrt.kernel("image.blur", native="(tensor<?x?xf64>) -> tensor<?x?xf64>")
def blur(image):  # type: ignore[no-untyped-def]
    height, width = image.shape
    smooth = np.empty((height - 2, width - 2))
    for y in range(height - 2):
        for x in range(width - 2):
            smooth[y, x] = image[y : y + 3, x : x + 3].sum() / 9.0
    return smooth


@tfrt.kernel("image.edges", native="(tensor<?x?xf64>) -> tensor<?x?xf64>")
def edges(image):  # type: ignore[no-untyped-def]
    height, width = image.shape
    found = np.zeros((height - 1, width - 1))
    for y in range(height - 1):
        for x in range(width - 1):
            found[y, x] = abs(image[y + 1, x] - image[y, x]) + abs(image[y, x + 1] - image[y, x])
    return found


@tfrt.kernel("image.count", native="(tensor<?x?xf64>) -> i64")
def count(image, *, above: float):  # type: ignore[no-untyped-def]
    return (image > above).sum()


@tfrt.kernel("image.join")
def join(tiles: object) -> np.ndarray:
    return np.concatenate(tiles, axis=0)


@tfrt.program
def pipeline(top: np.ndarray, middle: np.ndarray, bottom: np.ndarray):  # type: ignore[no-untyped-def]
    tiles = [edges(blur(tile)) for tile in (top, middle, bottom)]
    counts = [count(tile, above=50.0) for tile in tiles]
    return join(tiles), counts[0] + counts[1] + counts[2]


def main() -> None:
    y, x = np.mgrid[0:99, 0:80]
    picture = np.where((y - 50) ** 2 + (x - 40) ** 2 < 900, 255.0, 0.0)  # a white disc
    tiles = [
        picture[start : start + 36] for start in (0, 33, 63)
    ]  # that share rows at their borders
    joined, bright = pipeline(*tiles).result(120)
    print("size of the edges:", joined.shape, "on the edge:", bright)
    print("what Python's functions count:", sum(count(edges(blur(t)), above=50.0) for t in tiles))
    print("inside and outside are dark:", joined[48, 38] == 0.0, joined[2, 2] == 0.0)


if __name__ == "__main__":
    main()
