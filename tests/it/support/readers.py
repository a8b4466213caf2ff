"""Reads a file of ours with the reader that it is made for, and prints what that found as JSON: readers.py FORMAT FILE [SCHEMA]."""

import json
import sys


def rows(source):
    import duckdb

    told = "select count(*), count(wall_ns_per_unit), coalesce(sum(cast(wall_ns_per_unit as double) * units_per_sample), 0) from " + source
    found = duckdb.sql(told).fetchall()[0]
    names = duckdb.sql("select cell, status, parameter_bytes from " + source + " limit 1").fetchall()[0]
    return {"rows": found[0], "walls": found[1], "sum": float(found[2]), "first": [str(n) for n in names]}


def openmetrics(path):
    from prometheus_client.openmetrics import parser as strict
    from prometheus_client import parser as prometheus

    text = open(path, encoding="utf-8").read()
    found = {}
    for name, reader in (("openmetrics", strict), ("prometheus", prometheus)):
        families = list(reader.text_string_to_metric_families(text))
        found[name] = {f.name: [[s.labels, s.value] for s in f.samples] for f in families}
    return found


def junit(path):
    import junitparser

    suites = junitparser.JUnitXml.fromfile(path)
    cases = [case for suite in suites for case in suite]
    found = {"tests": suites.tests, "failures": suites.failures, "errors": suites.errors, "skipped": suites.skipped}
    words = {junitparser.Skipped: "skipped", junitparser.Failure: "failure", junitparser.Error: "error"}
    found["cases"] = [[c.name, c.time, [words[type(r)] for r in c.result]] for c in cases]
    return found


def schema(path, schema_path):
    import jsonschema

    value = json.load(open(path, encoding="utf-8"))
    jsonschema.validate(value, json.load(open(schema_path, encoding="utf-8")))
    return value


READERS = {
    "csv": lambda path: rows(f"read_csv('{path}', header = true, nullstr = '')"),
    "ndjson": lambda path: rows(f"read_json_auto('{path}', format = 'newline_delimited')"),
    "openmetrics": openmetrics,
    "junit": junit,
    "github": schema,
}

print(json.dumps(READERS[sys.argv[1]](*sys.argv[2:])))
