"""Start agents against a server address and follow them."""
