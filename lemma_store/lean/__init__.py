"""Lean processes: the embedded toolchain, the fork server, the sandbox and the kernel."""
