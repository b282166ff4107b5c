"""The public names of clew_schema are a list, and a client may count on them."""

import clew_schema

NAMES = """
    TOPICS AgentRequest AgentResponse AgentStep Citation DeadLetter DocumentLoad DocumentRagQuery
    DocumentRagResponse DocumentStatus Envelope Error Evidence Fact Grade GradingRequest GradingResponse
    GraphRagQuery GraphRagResponse Message Metadata PlanStep Retrieval ReturnAddress RunMessage Source Term
    Topic TopicSpace Triple Triples queue_topic
"""
PUBLIC = set(NAMES.split())


def test_the_list() -> None:
    assert set(clew_schema.__all__) == PUBLIC
    assert len(clew_schema.__all__) == len(PUBLIC)


def test_every_name_is_there_and_described() -> None:
    for name in PUBLIC - {"TOPICS", "Fact"}:
        assert getattr(clew_schema, name).__doc__, name


def test_nothing_else_is_offered_at_the_top() -> None:
    modules = {name for name in vars(clew_schema) if type(getattr(clew_schema, name)).__name__ == "module"}
    offered = {name for name in vars(clew_schema) if not name.startswith("_")} - modules
    assert offered == PUBLIC
