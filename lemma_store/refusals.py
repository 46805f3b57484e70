"""Why a candidate does not get in: values and the one exception that the judge's steps raise."""


class Refused(Exception):
    """The candidate is rejected for a reason that its author can read. Never an infrastructure failure."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
