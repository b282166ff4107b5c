"""Every number that a default stands for, once. Settings may change them; nothing else repeats them."""

DOCUMENT_LIMIT = 8
"""Chunks given to the writer when a query's ``doc_limit`` is 0 (SuperMew's RETRIEVAL_TOP_K)."""

CANDIDATE_MULTIPLIER = 3
"""Candidates taken from each leg, as a multiple of the document limit."""

RRF_K = 60
"""The constant of reciprocal rank fusion: Cormack, Clarke and Buettcher, SIGIR 2009."""

MAX_ITERATIONS = 10
"""Agent iterations before a run ends with ``max-iterations``."""

MAX_ATTEMPTS = 5
"""How often a message is tried before it is buried."""

MAX_QUERY_CHARACTERS = 10_000
"""Longest question that is accepted."""

MAX_NAME_CHARACTERS = 256
"""Longest session id, collection, document id and the like."""

MAX_URI_CHARACTERS = 2_048
"""Longest IRI that a caller may give."""

MAX_PROPERTY_CHARACTERS = 1_024
"""Longest value of one message property that is read; a longer one counts as absent."""

MAX_PROPERTIES = 32
"""How many properties that are not ours travel on with a retry or a dead letter."""

MAX_MESSAGE_BYTES = 4 * 1024 * 1024
"""Largest body that is published; the broker's own limit is 5 MB."""

DEFAULT_COLLECTION = "default"
"""The collection meant by an empty name."""

CHUNK_SIZES = (2400, 1600, 800)
"""Characters of a chunk of level 1, 2 and 3 (SuperMew's)."""

CHUNK_OVERLAPS = (400, 200, 100)
"""Characters that neighbouring chunks of a level share."""

MERGE_THRESHOLD = 2
"""Children of one parent that make auto-merge take the parent (SuperMew's AUTO_MERGE_THRESHOLD)."""

MAX_PARTS = 4
"""Parts of one question."""

MAX_REWRITES = 1
"""Rewrites of one run, all its pauses together."""

MAX_ROUNDS = 3
"""How often one run asks a person."""

TICKET_HOURS = 24.0
"""How long a person may take to answer."""

GRADER_CHARACTERS = 24_000
"""Characters of evidence that a grader is given."""

WRITER_CHARACTERS = 32_000
"""Characters of evidence that a writer is given."""
