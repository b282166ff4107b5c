"""Chat, embedding and reranking: over HTTP, embedded, scripted and recorded."""
