"""OpenAI Codex as a member of a team."""
