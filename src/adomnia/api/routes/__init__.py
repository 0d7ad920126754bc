"""The routes, by what they are about; `app` joins them to the table of roles."""
