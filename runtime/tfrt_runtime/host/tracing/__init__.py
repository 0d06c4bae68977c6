"""Reports on runs: `events` (the core's log of watched runs), `trace` (levels and sinks)."""
