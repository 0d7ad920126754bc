"""The pages of methods: a list of all of them, and for each a form that is made from its signature alone."""
