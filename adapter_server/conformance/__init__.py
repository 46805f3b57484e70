"""What the public conformance suites of the protocol ask a server for. Offered on request only, and to no agent."""
