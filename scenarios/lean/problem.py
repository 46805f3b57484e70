"""A problem as the server takes it: Lean text whose last theorem is to be proved."""

import msgspec


class LeanProblem(msgspec.Struct, frozen=True, kw_only=True):
    """Definitions and one theorem that ends in `sorry`."""

    name: str
    """Short name for folders and tables."""
    source: str
    """Definitions, then `theorem THEOREM : STATEMENT := by sorry`."""
    theorem: str
    """Name of the theorem to prove."""
    origin: str = ""
    """Where it comes from, for reports."""
