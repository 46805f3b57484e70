"""The evolver: changes of the adapter are proposed by anything and kept only by deterministic code, on evidence."""
