"""Every phase with an empty body."""
from pagewise.fault.null import run

__all__ = ["run"]
