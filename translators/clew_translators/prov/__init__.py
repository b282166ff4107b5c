"""PROV documents of anybody: what they state (PROV-DM), how they are written, and whether they are valid.

:mod:`~clew_translators.prov.model` is what all formats are read into and what the constraints are checked on.
"""
