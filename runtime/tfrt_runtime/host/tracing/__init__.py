"""Reports about runs: `events` (the core's log of watched runs) and `trace` (levels and sinks)."""
