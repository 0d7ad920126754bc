"""Spark as the engine: it reads tables where they are, keeps the index as Parquet, and runs our statements over it."""
