"""Everything that runs: decisions, handlers, the runtime that settles messages, adapters, the command line."""
