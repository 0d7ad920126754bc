"""What runs beneath the routes: threads and time, rates, logs, metrics, the dataset that is served, processes."""
