"""The shared plan, leases, messages and deliveries of an episode, on one hash-chained event log."""
