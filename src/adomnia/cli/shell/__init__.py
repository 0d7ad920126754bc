"""The shell: questions one after another, each with its price before it."""
