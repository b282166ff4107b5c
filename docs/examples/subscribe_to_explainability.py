"""Hear every step of every run, and ask SPARQL: ``python subscribe_to_explainability.py BROKER_URL BATCHES``."""

import sys

import pulsar
from rdflib import Dataset

from clew_schema import Triples
from clew_translators.quads import to_rdflib

QUESTIONS = """
PREFIX prov: <http://www.w3.org/ns/prov#>
PREFIX tg: <https://trustgraph.ai/ns/>
SELECT ?query ?chunk WHERE {
  GRAPH <urn:graph:retrieval> {
    ?question a tg:Question ; tg:query ?query .
    ?exploration prov:wasGeneratedBy ?question ; tg:selectedChunk ?chunk .
  }
}
"""
GRADES = """
PREFIX clew: <urn:clew:ns#>
PREFIX prov: <http://www.w3.org/ns/prov#>
SELECT ?relevance ?route ?rule WHERE {
  GRAPH <urn:graph:provenance> {
    ?decision a clew:Decision ; clew:route ?route ; clew:resolvedBy ?rule ; prov:wasDerivedFrom ?grade .
    ?grade clew:relevance ?relevance .
  }
}
"""


def main(url: str, batches: int) -> None:
    traces = Dataset()
    client = pulsar.Client(url, logger=pulsar.ConsoleLogger(pulsar.LoggerLevel.Error))
    # A name of its own: every subscription gets every batch, and keeps what it has not read yet.
    steps = client.subscribe(
        "explainability",
        "my-audit",
        pulsar.ConsumerType.Shared,
        initial_position=pulsar.InitialPosition.Earliest,
    )
    try:
        while batches:
            message = steps.receive(timeout_millis=60_000)
            if (
                "clew-nudge" in message.properties()
            ):  # pulsar-lite alone: an empty reminder, see decision 0008
                steps.acknowledge(message)
                continue
            batch = Triples.model_validate_json(message.data())
            for quad in to_rdflib(batch.triples).quads():
                traces.add(quad)
            steps.acknowledge(message)
            batches -= 1
            print("step:", batch.metadata.id)
    finally:
        client.close()
    for row in traces.query(QUESTIONS):
        print("question:", row.query, "chunk:", row.chunk)
    for row in traces.query(GRADES):
        print("grade:", row.relevance, "route:", row.route, "rule:", row.rule)


main(sys.argv[1], int(sys.argv[2]))
