"""MCP in, one typed call out: the only place that knows the protocol."""
