"""The only door to Redis or Valkey: connections, scripts, key names, decoding."""


class EpisodeStore:
    """Connections to one server."""
