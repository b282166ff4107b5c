"""Ask, and answer what is asked back: ``python answer_a_ticket.py BROKER_URL COLLECTION QUESTION``."""

import json
import sys
import uuid

import pulsar

NAMESPACE = "persistent://public/default"


class Caller:
    """One reply topic for everything that this process asks."""

    def __init__(self, client: pulsar.Client) -> None:
        self.mine = f"{NAMESPACE}/replies-{uuid.uuid4()}"
        self.replies = client.subscribe(self.mine, "me", pulsar.ConsumerType.Shared)
        self.requests = client.create_producer(f"{NAMESPACE}/document-rag-request", batching_enabled=False)

    def call(self, query: dict) -> dict:
        """The last response to ``query``. Raises pulsar.Timeout when nothing comes for a minute."""
        correlation = str(uuid.uuid4())
        properties = {"id": correlation, "reply-to": self.mine}
        self.requests.send(json.dumps(query).encode(), properties=properties)
        while True:
            message = self.replies.receive(timeout_millis=60_000)
            self.replies.acknowledge(message)
            body = json.loads(message.data())
            if message.properties().get("id") == correlation and body["end_of_session"]:
                return body

    def close(self) -> None:
        """Its topic is not needed any more."""
        self.requests.close()
        self.replies.close()


if __name__ == "__main__":
    url, collection, question = sys.argv[1:4]
    connection = pulsar.Client(url, logger=pulsar.ConsoleLogger(pulsar.LoggerLevel.Error))
    try:
        caller = Caller(connection)
        heard = caller.call({"query": question, "collection": collection})
        while heard["ticket"] and not heard["error"]:
            print(heard["outcome"], "-", heard["response"])
            for option in heard["options"]:
                print(" *", option)
            answer = {"ticket": heard["ticket"], "answer": input(), "collection": collection}
            heard = caller.call(answer)
        caller.close()
    finally:
        connection.close()
    if heard["error"]:
        sys.exit(f"{heard['error']['type']}: {heard['error']['message']}")
    print(heard["outcome"], "-", heard["response"])
