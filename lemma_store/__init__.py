"""Lemmas that the Lean kernel accepted, and the judge that admits them."""
