"""One step a file: a body in, an Outcome out. No ack, no id, no topic string, no try."""
