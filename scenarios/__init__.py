"""Run problems end to end, seeing the server only from outside."""
