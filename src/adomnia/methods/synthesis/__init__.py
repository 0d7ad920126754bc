"""What releases are made with: workloads, bases, noisy tables, and models that rows are drawn from."""
