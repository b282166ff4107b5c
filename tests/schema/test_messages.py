"""What all messages have in common."""

import math

import pytest
from pydantic import BaseModel, ValidationError

from clew_schema import AgentRequest, DocumentRagResponse, Evidence
from tests.translators.strategies import MESSAGES


@pytest.mark.parametrize("model", MESSAGES, ids=lambda model: model.__name__)
def test_every_type_is_frozen_strict_tolerant_and_described(model: type[BaseModel]) -> None:
    config = model.model_config
    assert (config["frozen"], config["strict"], config["extra"]) == (True, True, "ignore")
    assert model.__doc__
    assert "allow_inf_nan" in config


def test_a_message_is_changed_only_by_copy() -> None:
    request = AgentRequest(question="q")
    with pytest.raises(ValidationError, match="frozen"):
        request.question = "p"  # type: ignore[misc]
    assert request.model_copy(update={"question": "p"}).question == "p"
    assert request == AgentRequest(question="q")


def test_defaults_are_not_shared() -> None:
    assert AgentRequest().model_fields_set == set()
    assert AgentRequest().history == ()


@pytest.mark.parametrize("score", [math.nan, math.inf, -math.inf])
def test_a_number_that_json_cannot_say_is_refused_where_it_arises(score: float) -> None:
    with pytest.raises(ValidationError, match="finite"):
        Evidence(chunk_id="c", dense_score=score)


def test_lists_become_tuples() -> None:
    assert DocumentRagResponse.model_validate({"options": ["a", "b"]}).options == ("a", "b")
