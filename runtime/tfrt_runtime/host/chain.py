"""The payload of a `!tfrt.chain`."""

from __future__ import annotations

from typing import Final, final

from tfrt_runtime.host.objects import NoObject


@final
class Chain(NoObject):
    """The value of a `!tfrt.chain`: it says that something has happened, and nothing else."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "CHAIN"


CHAIN: Final = Chain()
