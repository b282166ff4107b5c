"""Whether a question can be asked at all."""

from clew_schema.limits import MAX_QUERY_CHARACTERS
from clew_services.errors import BadRequest

MAX_DOCUMENT_LIMIT = 200
"""Most chunks one question may ask for."""


def check_question(text: str) -> None:
    """Raise BadRequest for a question that is blank or too long."""
    if not text.strip():
        raise BadRequest("the question is empty: say what you want to know")
    if len(text) > MAX_QUERY_CHARACTERS:
        raise BadRequest(f"the question has {len(text)} characters; at most {MAX_QUERY_CHARACTERS} are read")


def check_limits(doc_limit: int, fetch_limit: int) -> None:
    """Raise BadRequest for limits that are negative or beyond what is served. 0 means the default."""
    for name, value in (("doc_limit", doc_limit), ("fetch_limit", fetch_limit)):
        if not 0 <= value <= MAX_DOCUMENT_LIMIT:
            raise BadRequest(f"{name} is {value}; it must be from 0 (the default) to {MAX_DOCUMENT_LIMIT}")
