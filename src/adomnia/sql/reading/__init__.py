"""From text to a tree of SQL, or a refusal with its place."""
