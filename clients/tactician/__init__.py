"""An agent that needs no model: it proves by search and speaks only MCP."""
