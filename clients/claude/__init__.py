"""Claude Code as a member of a team."""
