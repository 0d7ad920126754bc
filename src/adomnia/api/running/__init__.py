"""What the routes run on: processes, connections, threads, time buckets, rate limits, logs, metrics, the dataset."""
