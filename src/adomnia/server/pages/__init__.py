"""The few pages for people: signing in, and what to do next. No script, and everything that is shown is escaped."""
