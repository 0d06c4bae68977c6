"""asyncio on uvloop."""

from __future__ import annotations

import uvloop

from benchmarks.peers.coroutines import works

WORKS = tuple(works(uvloop.new_event_loop))
