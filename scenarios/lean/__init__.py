"""The Lean scenario runner: problems in, episodes out."""
