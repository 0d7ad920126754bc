"""Parts of the methods for likelihoods and posteriors."""
