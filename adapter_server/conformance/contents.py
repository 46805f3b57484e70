"""One small content of every kind that the protocol has."""

import mcp_types as types

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR42mP4z8AAAAMBAQD3A0FDAAAAAElFTkSuQmCC"
WAV = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQIAAACAgA=="


def text(words: str) -> types.TextContent:
    """Text."""
    return types.TextContent(type="text", text=words)


def embedded(uri: str, mime_type: str, words: str) -> types.EmbeddedResource:
    """A resource inside of a content."""
    contents = types.TextResourceContents(uri=uri, mime_type=mime_type, text=words)
    return types.EmbeddedResource(type="resource", resource=contents)


def said(words: str) -> types.CallToolResult:
    """A result of one text."""
    return types.CallToolResult(content=[text(words)])


IMAGE = types.ImageContent(type="image", data=PNG, mime_type="image/png")
AUDIO = types.AudioContent(type="audio", data=WAV, mime_type="audio/wav")
