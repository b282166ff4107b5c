"""Ledger, catalog, vectors and traces: in memory, in SQL, in Milvus, in an RDF dataset."""
