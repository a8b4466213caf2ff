"""Pagewise in a notebook: kept runs as rows or as a DataFrame, and new runs.

>>> import pagewise
>>> frame = pagewise.load("last")                 # a pandas DataFrame
>>> frame = pagewise.run("fault", budget="5s")    # measures, then loads

Nothing but the standard library is needed; ``load`` and ``run`` ask for pandas, ``rows`` does not.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sysconfig
from typing import TYPE_CHECKING, Any, Iterable, Mapping

if TYPE_CHECKING:
    import pandas

__all__ = ["Error", "load", "measure", "rows", "run", "summary"]


class Error(RuntimeError):
    """A command that failed, in the words of pagewise."""


def _program() -> str:
    beside = os.path.join(sysconfig.get_path("scripts"), "pagewise")
    found = beside if os.access(beside, os.X_OK) else shutil.which("pagewise")
    if found is None:
        raise Error("there is no pagewise in PATH")
    return found


def _output(*words: str) -> str:
    ended = subprocess.run([_program(), *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8", check=False)
    # 3 is an answer that is undecided or rests on a damaged record: what can be read is in the output.
    if ended.returncode not in (0, 3):
        raise Error(ended.stderr.strip() or f"pagewise ended with {ended.returncode}")
    return ended.stdout


def rows(run: str = "last") -> list[dict[str, Any]]:
    """A row a cell, phase and launch of a kept run; the columns are those of ``report --format ndjson``."""
    return [json.loads(line) for line in _output("report", run, "--format", "ndjson").splitlines()]


def summary(run: str = "last") -> dict[str, Any]:
    """The summary of a kept run: ratios, verdicts and answers (schema: crates/record/schema/summary.schema.json)."""
    return json.loads(_output("report", run, "--json"))


def load(run: str = "last") -> pandas.DataFrame:
    """The rows of a kept run as a pandas DataFrame."""
    import pandas

    return pandas.DataFrame(rows(run))


def measure(*what: str, budget: str | None = None, set: Mapping[str, object] | Iterable[str] = ()) -> str:
    """Measures experiments, methods or the overview; returns the name of the kept run."""
    pairs = [f"{key}={value}" for key, value in set.items()] if isinstance(set, Mapping) else list(set)
    words = [*what, *(["--budget", budget] if budget else [])]
    for pair in pairs:
        words += ["--set", pair]
    return json.loads(_output("run", *words, "--json"))["run"]


def run(*what: str, budget: str | None = None, set: Mapping[str, object] | Iterable[str] = ()) -> pandas.DataFrame:
    """Measures, then loads: ``pagewise.run("fault/touch", budget="5s", set={"bytes": "64MiB"})``."""
    return load(measure(*what, budget=budget, set=set))
