"""The dataset over HTTP: who asks, what they may do, and nothing that the curator does not decide."""
