"""Proposers: a script, any program, a search over knobs, GEPA."""
