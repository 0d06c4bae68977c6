"""Arithmetic without warnings, that leaves others their warnings."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from tfrt_runtime.kernels.tensor.quiet import quietly

INFINITY = np.array([np.inf])


def test_infinities_and_nans_are_silent_within_and_reported_without() -> None:
    assert np.isnan(quietly(np.subtract, INFINITY, INFINITY)).all()
    with pytest.warns(RuntimeWarning, match="invalid value"):
        np.subtract(INFINITY, INFINITY)


def test_a_user_who_wants_exceptions_keeps_them() -> None:
    with np.errstate(all="raise"):
        assert np.isnan(quietly(np.subtract, INFINITY, INFINITY)).all()
        with pytest.raises(FloatingPointError):
            np.subtract(INFINITY, INFINITY)


def test_threads_are_quiet_at_the_same_time() -> None:
    both_inside = threading.Barrier(2, timeout=10)
    found: list[float] = []

    def subtract() -> None:
        both_inside.wait()
        found.append(float((INFINITY - INFINITY)[0]))

    other = threading.Thread(target=quietly, args=(subtract,))
    other.start()
    quietly(subtract)
    other.join()
    assert np.isnan(found).tolist() == [True, True]
