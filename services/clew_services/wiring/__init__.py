"""The one place where settings become objects: parts are opened when something needs them, closed in reverse.

Adapters are imported where they are used: a command that only asks the broker does not wait for SQL and Milvus.
"""

from clew_services.wiring.parts import Parts

__all__ = ["Parts"]
