"""The one place that decodes, settles, retries, drains and measures."""
