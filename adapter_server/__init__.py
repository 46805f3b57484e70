"""The daemon: MCP edge, tools, adapter versions, episodes and the commands."""
