"""One module for each generated page: what the code says, as Markdown."""
