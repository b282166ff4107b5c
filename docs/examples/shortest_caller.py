"""Ask with pulsar-client alone: ``python shortest_caller.py BROKER_URL COLLECTION``."""

import json
import sys
import uuid

import pulsar

client = pulsar.Client(sys.argv[1])
answers = client.subscribe("document-rag-response", f"me-{uuid.uuid4()}", pulsar.ConsumerType.Shared)
query = {"query": "Does the Apache License grant a patent license?", "collection": sys.argv[2]}
client.create_producer("document-rag-request").send(json.dumps(query).encode(), properties={"id": "q1"})
while (message := answers.receive(60_000)).properties().get("id") != "q1":
    answers.acknowledge(message)
answer = json.loads(message.data())
print(answer["response"], [(c["filename"], c["start"], c["end"]) for c in answer["citations"]])
client.close()
