"""How good retrieval and answers are, measured on questions whose answers are known."""
