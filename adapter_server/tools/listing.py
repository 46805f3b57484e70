"""The tools of an adapter version as MCP hosts list them."""

from adapter_server.bundle import Bundle

from .registry import TOOLS
from .schema import JsonObject, input_schema


def tool_listing(bundle: Bundle) -> list[JsonObject]:
    """Every enabled tool in order, in the protocol's own words."""
    return [
        {
            "name": name,
            "title": words.title,
            "description": words.description,
            "inputSchema": input_schema(name, words),
            "annotations": {
                "readOnlyHint": TOOLS[name].is_read_only,
                "destructiveHint": False,
                "openWorldHint": False,
            },
        }
        for name, words in bundle.tools.items()
    ]
