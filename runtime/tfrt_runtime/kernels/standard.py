"""The runtime's own kernels, and the kernels that users have registered.

Modules are imported one after another until the requested name is found, so a program with only
scalars never loads numpy.
"""

from __future__ import annotations

import importlib
import threading
from collections.abc import Iterator, Mapping

from tfrt_runtime.diagnostics import TfrtError, error
from tfrt_runtime.kernels.registry import Kernel, KernelRegistry
from tfrt_runtime.kernels.users.user import USER_FUNCTIONS, USER_KERNELS

MODULES = (
    "basic.scalars",
    "basic.effects",
    "basic.functions",
    "basic.strings",
    "basic.test_kernels",
    "tensor.tensor_shapes",
    "tensor.tensors",
    "tensor.btf",
    "tensor.cpu_elements",
    "tensor.cpu_convolution",
)
"""The modules in import order: small and common modules first.

The test kernels and all later modules need numpy.
"""

FAMILIES = frozenset(
    (
        *("btf", "coo", "demo", "tfrt", "tfrt_dht", "tfrt_dht_sync", "tfrt_sht", "tfrt_sht_sync"),
        *("tfrt_test", "tfrt_tutorial", "ts", "vt"),
        *(f"native function native_{name}" for name in ("add", "async_add", "async_sink", "error")),
        "native function native_sink",
    )
)
"""The first parts of the runtime's kernel names, before the first dot."""

_loaded = KernelRegistry("standard")
_open_modules = list(MODULES)
_lock = threading.RLock()


def _load_next() -> bool:
    """Import the next module.

    Return False if no module is left, or if the next one needs numpy and numpy is missing.
    """
    with _lock:
        if not _open_modules:
            return False
        try:
            module = importlib.import_module(f"tfrt_runtime.kernels.{_open_modules[0]}")
        except ModuleNotFoundError as missing:
            if missing.name != "numpy":
                raise
            return False
        for part in vars(module).values():
            if isinstance(part, KernelRegistry):
                _loaded.include(part)
        del _open_modules[0]
        return True


def _find(name: str) -> Kernel | None:
    """Return the runtime's kernel with the given name, or None.

    Import as few modules as possible.
    """
    while (found := _loaded.get(name)) is None and _load_next():
        pass
    if found is None and _open_modules:
        text = f"kernel '{name}' is unknown, or needs numpy: check its name, or %pip install numpy"
        raise TfrtError(error(text))
    return found


def standard_kernels() -> KernelRegistry:
    """Return a new registry with all kernels of the runtime, to which you can add your own.

    Without numpy, it has only the kernels that do not need numpy.
    """
    while _load_next():
        pass
    registry = KernelRegistry("standard")
    registry.include(_loaded)
    return registry


class AvailableKernels(Mapping[str, Kernel]):
    """The runtime's kernels and the kernels that `@kernel` has registered."""

    def __getitem__(self, name: str) -> Kernel:
        """Raises:
        KeyError: if no kernel has that name.
        TfrtError: if both a user's kernel and a kernel of the runtime have that name.
        """
        user = USER_KERNELS.get(name)
        # A search for an unknown name would import all modules, including numpy.
        is_free = user is not None and name.partition(".")[0] not in FAMILIES
        found = None if is_free else _find(name)
        if user is None and found is None:
            raise KeyError(name)
        if user is not None and found is not None:
            raise TfrtError(
                error(
                    f"kernel '{name}' of the user kernels is already in the standard kernels:"
                    " give yours another name",
                    USER_FUNCTIONS[name].place if name in USER_FUNCTIONS else None,
                )
            )
        kernel = user or found
        assert kernel is not None
        return kernel

    def __iter__(self) -> Iterator[str]:
        return iter([*standard_kernels(), *USER_KERNELS])

    def __len__(self) -> int:
        return len(standard_kernels()) + len(USER_KERNELS)


def available_kernels() -> Mapping[str, Kernel]:
    """Return the kernels for programs that are loaded without a registry."""
    return AvailableKernels()
