"""Classes whose `dir` shows only their public members."""

from __future__ import annotations


class Public(type):
    """A metaclass whose classes list in `dir` the names in their `_public`, and special methods.

    `help`, Tab, and the reference use `dir`; members for the runtime's own modules are omitted.
    """

    _public: tuple[str, ...]

    def __dir__(cls) -> list[str]:
        special = [name for name in super().__dir__() if name.startswith("__")]
        # Operators that only raise an error with advice have no help, either.
        hidden = getattr(cls, "_refuse_operator", None)
        return [*cls._public, *(n for n in special if getattr(cls, n, None) is not hidden)]
