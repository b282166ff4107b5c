"""The bus: in memory, on Apache Pulsar, and on pulsar-lite as a supervised child."""
