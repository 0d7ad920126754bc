"""The text of the catalog as owners edit it over the network: read, checked, compared with what is served, saved."""
