"""Bearer tokens of agents. They are derived, so none is stored anywhere and none is lost by a restart."""

import base64
import hashlib
import hmac

PREFIX = "aa1_"


class Tokens:
    """Tokens under one secret; another secret makes all of them worthless."""

    def __init__(self, secret: str) -> None:
        self._key = hashlib.sha256(f"agent tokens\0{secret}".encode()).digest()

    def issue(self, *, episode: str, agent: str) -> str:
        """The token of an agent in an episode: always the same."""
        mac = hmac.digest(self._key, f"{episode}\0{agent}".encode(), "sha256")
        return PREFIX + base64.urlsafe_b64encode(mac).decode().rstrip("=")

    def is_valid(self, token: str, *, episode: str, agent: str) -> bool:
        """Whether the token is the one of this agent in this episode."""
        return hmac.compare_digest(token.encode(), self.issue(episode=episode, agent=agent).encode())
