"""The dataset over HTTP. The server authorizes requests; everything about privacy is decided by the curator."""
