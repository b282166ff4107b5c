"""A caller with pulsar-client alone: correlation id, its own reply topic, streaming, errors, both ends.

``python pulsar_client_alone.py BROKER_URL COLLECTION QUESTION``
"""

import json
import sys
import uuid

import pulsar

NAMESPACE = "persistent://public/default"


def ask(client: pulsar.Client, collection: str, question: str) -> dict:
    """The final response. Raises pulsar.Timeout when nothing comes for a minute."""
    mine, correlation = f"{NAMESPACE}/replies-{uuid.uuid4()}", str(uuid.uuid4())
    replies = client.subscribe(mine, "me", pulsar.ConsumerType.Shared)
    requests = client.create_producer(f"{NAMESPACE}/document-rag-request", batching_enabled=False)
    query = {
        "query": question,
        "collection": collection,
        "session_id": str(uuid.uuid4()),
        "streaming": True,
    }
    requests.send(json.dumps(query).encode(), properties={"id": correlation, "reply-to": mine})

    text, stream, seen = "", "", set()
    while True:
        message = replies.receive(timeout_millis=60_000)
        replies.acknowledge(message)
        body, props = json.loads(message.data()), message.properties()
        name = (props["message-id"], props.get("stream"), props.get("sequence"))
        if name in seen:  # the bus delivers at least once
            continue
        seen.add(name)
        if body["message_type"] == "explain":
            print("step:", body["explain_id"])
        elif body["message_type"] == "chunk":
            if stream and stream != props["stream"]:  # its service was restarted: the text begins again
                text = ""
            stream = props["stream"]
            text += body["response"]
        if body["end_of_session"]:
            requests.close()
            replies.close()
            return body


if __name__ == "__main__":
    quiet = pulsar.ConsoleLogger(pulsar.LoggerLevel.Error)
    connection = pulsar.Client(sys.argv[1], logger=quiet)
    try:
        final = ask(connection, sys.argv[2], sys.argv[3])
    finally:
        connection.close()  # an unclosed consumer aborts the interpreter at exit
    if final["error"]:
        sys.exit(f"{final['error']['type']}: {final['error']['message']}")
    print(final["outcome"], "-", final["response"])
    for citation in final["citations"]:
        print(f"[{citation['number']}]", citation["filename"], citation["start"], citation["end"])
