"""Files to text: bytes in, no path is ever opened."""
