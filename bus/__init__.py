"""Typed messages, the error tree, and moving both between processes."""
