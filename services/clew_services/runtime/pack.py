"""From what a step decided to the messages that say so: a pure function, so a replay packs the same bytes.

Ids are derived from the cause, facts are stamped and turned into triples, the trail is carried on, and
responses find their way back to the caller.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from clew_schema import ids, topics
from clew_schema.base import RunMessage
from clew_schema.envelope import SEQUENCE, STREAM
from clew_schema.facts import RunFailed
from clew_schema.limits import MAX_PROPERTY_CHARACTERS
from clew_services.core.bounds import clip
from clew_services.core.outgoing import check_outgoing
from clew_services.errors import told as told_error
from clew_services.ports import Outgoing
from clew_services.runtime.explaining import Explaining, entity_of
from clew_services.runtime.fitting import encode
from clew_services.runtime.letter import letter_of, parts_of, tried
from clew_services.runtime.stamping import established, trail_of
from clew_translators import bus
from clew_translators.explain import Told, question_uri
from clew_translators.namespaces import GRAPH_RETRIEVAL

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from clew_schema.base import Message
    from clew_schema.errors import DeadLetter
    from clew_schema.facts import Fact
    from clew_schema.retrieval import ReturnAddress
    from clew_schema.topics import Topic, TopicSpace
    from clew_services.ports import Delivery, Ticket
    from clew_services.runtime.handling import Handling
    from clew_services.runtime.outcome import Outcome, Send
    from clew_translators.explain.statements import Statements


@dataclass(frozen=True, slots=True, kw_only=True)
class Packer:
    """Packs for one topic space. ``always_explain`` sends explanations inline also to callers who do not stream.

    ``version`` is that of the service, which every fact names.
    """

    space: TopicSpace
    always_explain: bool = False
    version: str = ""
    explaining: Explaining = field(default_factory=Explaining)

    def outcome(self, handling: Handling, outcome: Outcome) -> tuple[Outgoing, ...]:
        """Everything the step publishes, in the order in which one topic's messages must stay. Raises TooLarge."""
        facts = established(handling, outcome.facts, self.version)
        return self._numbered(
            handling, (*self._explained(handling, facts), *self._sent(handling, outcome, facts))
        )

    def ticket(self, handling: Handling, outcome: Outcome) -> Ticket | None:
        """The ticket that the step opens, with the run as it rests: all its facts, those of this step included."""
        if (opening := outcome.opens) is None:
            return None
        facts = established(handling, outcome.facts, self.version)
        rest = _with_trail(opening.rest, (*trail_of(handling), *facts))
        return replace(opening.ticket, run=bus.encode(rest))

    def failure(
        self, handling: Handling, error: Exception, letter: DeadLetter | None, *, explained: bool = True
    ) -> tuple[Outgoing, ...]:
        """The failure explained, the caller told, and the letter kept. Not ``explained``: when explaining failed.

        Nor is a person's answer that failed: no run ended with it, and the one that it names may go on well.
        """
        news = told_error(error)
        out: list[_Draft] = []
        caller = handling.step.caller
        if caller is not None:
            failed = RunFailed(
                mechanism=caller.mechanism,
                error_type=news.type,
                message=news.message,
                letter=letter.letter_id if letter else "",
                attempt=handling.envelope.attempt,
            )
            explained = explained and not _awaited(handling)
            facts = established(handling, (failed,), self.version) if explained else ()
            out += self._explained(handling, facts)
            address = self._address(handling)
            response = caller.failure(
                news,
                address.state if address else "",
                streaming=bool(handling.run and handling.run.wants_stream),
            )
            out.append(self._response(handling, response, facts, address))
        if (tell := handling.step.on_failure) is not None:
            send = tell(handling.body, news)
            out.append(_Draft(self._topic(handling, send), send.body, send.topic.key_of(send.body)))
        if letter is not None:
            out += self._lettered(letter)
        return self._numbered(handling, out)

    def letter(self, handling: Handling, delivery: Delivery, error: Exception) -> DeadLetter:
        """``delivery`` as a dead letter."""
        return letter_of(handling, delivery, error, topic=self.space.own(handling.step.topic.name))

    def chunk(self, handling: Handling, text: str, sequence: int, stream: str) -> Outgoing:
        """A piece of text for a caller who streams. Not recorded: what it says comes again at the end."""
        caller = handling.step.caller
        if caller is None:
            msg = f"step {handling.step.name} has no caller to stream to"
            raise TypeError(msg)
        body = caller.chunk(text).model_copy(
            update={"session_id": handling.session_id, "collection": handling.collection}
        )
        return self._aside(handling, self._reply_topic(handling, caller.topic.name), body, sequence, stream)

    def progress(
        self, handling: Handling, topic: Topic[Any], body: Message, sequence: int, stream: str
    ) -> Outgoing:
        """News of a step that takes its time. Not recorded."""
        return self._aside(handling, self._reply_topic(handling, topic.name), body, sequence, stream)

    def _aside(self, handling: Handling, topic: str, body: Message, sequence: int, stream: str) -> Outgoing:
        message_id = ids.message_id(handling.cause, handling.step.name, "aside")
        envelope = replace(
            handling.envelope.effect(message_id, handling.session_id),
            attempt=handling.envelope.attempt,
            other={SEQUENCE: str(sequence), STREAM: stream},
        )
        return Outgoing(
            topic=topic, payload=bus.encode(body), key=handling.session_id, properties=envelope.properties()
        )

    def retry(self, handling: Handling, delivery: Delivery, due: int, error: Exception) -> Outgoing:
        """The delayed copy that is tried next at ``due`` (milliseconds since 1970). It keeps the id of the first.

        And it tells why the attempts before it failed, the last one with ``error``.
        """
        envelope = replace(handling.envelope, message_id=handling.cause).retry(due)
        return Outgoing(
            topic=self.space.retry(handling.step.topic.name, handling.step.service),
            payload=delivery.payload,
            key=clip(delivery.key, MAX_PROPERTY_CHARACTERS),
            properties=tried(handling, delivery, error, envelope),
            deliver_at=due,
        )

    def _lettered(self, letter: DeadLetter) -> list[_Draft]:
        topic = self.space.full(topics.DEAD_LETTER.name)
        return [_Draft(topic, part, letter.session_id) for part in parts_of(letter)]

    def _explained(self, handling: Handling, facts: Sequence[Fact]) -> Iterator[_Draft]:
        caller, run = handling.step.caller, handling.run
        batches = self.explaining.batches(handling, facts)
        if caller is None or not batches:
            return
        question = question_uri(handling.session_id, caller.mechanism)
        for told in batches:
            yield _Draft(self.space.full(topics.EXPLAINABILITY.name), told, question)
        if run and self._inline(run) and self._address(handling) is None:
            topic = self._reply_topic(handling, caller.topic.name)
            for told in self.explaining.shown(handling, facts, batches):
                body = _named(handling, caller.explain(told.metadata.id))
                yield _Draft(topic, body, handling.session_id, graphs=told.graphs)

    def _sent(self, handling: Handling, outcome: Outcome, facts: tuple[Fact, ...]) -> Iterator[_Draft]:
        for send in outcome.send:
            caller = handling.step.caller
            if caller is not None and isinstance(send.body, caller.topic.body):
                yield self._response(handling, send.body, facts, self._trusted(send.to))
                continue
            trail = (*trail_of(handling), *facts) if caller and handling.run else ()
            body = _with_trail(send.body, trail)
            if send.carry is not None:
                state = bus.encode(_with_trail(send.carry, trail)).decode()
                body = body.model_copy(update={"reply": body.reply.model_copy(update={"state": state})})
            yield _Draft(self._topic(handling, send), body, send.topic.key_of(body))

    def _response(
        self, handling: Handling, body: Any, facts: tuple[Fact, ...], address: ReturnAddress | None
    ) -> _Draft:
        caller, run = handling.step.caller, handling.run
        changes: dict[str, Any] = {}
        graphs: tuple[Statements, ...] = ()
        if caller is not None and facts and not body.message_id:
            changes["message_id"] = entity_of(handling, facts)
        traced = handling.envelope.traced and not _awaited(handling)
        if caller is not None and traced and caller.is_final(body):
            changes["explain_id"] = question_uri(handling.session_id, caller.mechanism)
            changes["explain_graph"] = GRAPH_RETRIEVAL
            if address is None and run is not None and not self._inline(run):
                graphs = self.explaining.whole(handling, facts)
        answer = _named(handling, body).model_copy(update=changes)
        if address is not None:
            topic = self.space.full(address.topic)
            correlation = clip(address.correlation, MAX_PROPERTY_CHARACTERS)
            return _Draft(topic, answer, handling.session_id, correlation, name=_result(handling, address))
        topic = self._reply_topic(handling, caller.topic.name if caller else "")
        return _Draft(topic, answer, handling.session_id, graphs=graphs)

    def _inline(self, run: RunMessage) -> bool:
        return self.always_explain or run.wants_stream

    def _topic(self, handling: Handling, send: Send[Any]) -> str:
        if (address := self._trusted(send.to)) is not None:
            return self.space.full(address.topic)
        if send.topic in topics.RESPONSES:
            return self._reply_topic(handling, send.topic.name)
        return self.space.own(send.topic.name)

    def _reply_topic(self, handling: Handling, name: str) -> str:
        wanted = handling.envelope.reply_to
        return (wanted and self.space.answerable(wanted)) or self.space.full(name)

    def _address(self, handling: Handling) -> ReturnAddress | None:
        caller = handling.step.caller
        return self._trusted(caller.address(handling.run)) if caller and handling.run else None

    def _trusted(self, address: ReturnAddress | None) -> ReturnAddress | None:
        """An address where no answer may go is no address: the runtime has refused the request for it."""
        return address if address and self.space.answerable(address.topic, tool=True) else None

    def _numbered(self, handling: Handling, drafts: Sequence[_Draft]) -> tuple[Outgoing, ...]:
        out = []
        for number, draft in enumerate(drafts):
            envelope = handling.envelope.effect(
                draft.name or ids.message_id(handling.cause, handling.step.name, number),
                draft.body.session_id if isinstance(draft.body, RunMessage) else handling.session_id,
            )
            if draft.correlation:
                envelope = replace(envelope, id=draft.correlation)
            body = draft.body
            payload = body.encode() if isinstance(body, Told) else encode(body, draft.graphs)
            message = Outgoing(
                topic=draft.topic, payload=payload, key=draft.key, properties=envelope.properties()
            )
            # Before it is recorded: what no bus takes would be published in vain for ever.
            check_outgoing(message)
            out.append(message)
        return tuple(out)


@dataclass(frozen=True, slots=True)
class _Draft:
    """A message before it has its number. ``graphs`` are the triples that explain it, where it carries them.

    ``name`` is its id where that is not its number's.
    """

    topic: str
    body: Message | Told
    key: str
    correlation: str = ""
    graphs: tuple[Statements, ...] = ()
    name: str = ""


def _named(handling: Handling, body: Any) -> Any:
    return body.model_copy(update={"session_id": handling.session_id, "collection": handling.collection})


def _result(handling: Handling, address: ReturnAddress) -> str:
    """The id of the result that the asker gets: one, also of a run that failed and is sent again by an operator.

    The asker went on with the failure. A second result would make it go on once more, as another run of one name.
    """
    return ids.derive("result", handling.session_id, address.topic, address.correlation, address.state)


def _awaited(handling: Handling) -> bool:
    """Whether a paused run waits for the message, and did not go on with it."""
    caller, run = handling.step.caller, handling.run
    return bool(caller and run and caller.awaited(run))


def _with_trail(body: Any, trail: tuple[Fact, ...]) -> Any:
    return body.model_copy(update={"trail": trail}) if "trail" in type(body).model_fields else body
