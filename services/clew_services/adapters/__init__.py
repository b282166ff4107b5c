"""The only files that import pulsar, pymilvus, httpx, sqlalchemy, pyoxigraph or a model."""
