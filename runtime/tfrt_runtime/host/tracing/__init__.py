"""Reports of a run: `events` (the core's log of watched runs), `trace` (sinks), `chrome_trace` (one of them)."""
