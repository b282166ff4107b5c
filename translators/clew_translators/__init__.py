"""Pure conversions between what travels and what others read: bus JSON, gateway JSON, RDF, exports.

Nothing here does I/O, waits, or looks at a clock: the same value in gives the same value out.
"""
