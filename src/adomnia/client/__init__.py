"""The same session over HTTP: code moves between a dataset on this machine and a server unchanged."""
