"""Pagewise as a ReFrame test: runs it on a node and reads its JSON (the committed summary.schema.json).

    reframe -c packaging/reframe/pagewise_check.py -r -S budget=30s

Performance variables are what a unit costs in each cell that may be believed, in nanoseconds, so that ReFrame's own references
and history apply. The sanity check is Pagewise's: exit code 0, and no cell untrusted or damaged.
"""

import json
import os

import reframe as rfm
import reframe.utility.sanity as sn


@rfm.simple_test
class PagewiseCheck(rfm.RunOnlyRegressionTest):
    descr = "What memory costs on this node, by Pagewise"
    valid_systems = ["*"]
    valid_prog_environs = ["*"]
    executable = os.environ.get("PAGEWISE", "pagewise")
    what = variable(str, value="fault/touch@c-O3 fault/thp@c-O3")
    values = variable(str, value="bytes=16MiB")
    budget = variable(str, value="20s")
    num_tasks = 1
    exclusive_access = True

    @run_before("run")
    def ask(self):
        self.executable_opts = [
            "run", self.what, "--set", self.values, "--budget", self.budget, "--out", "run", "--json", "> summary.json",
        ]

    def _summary(self):
        with open(os.path.join(self.stagedir, "summary.json")) as file:
            return json.load(file)

    @sanity_function
    def believed(self):
        summary = self._summary()
        doubtful = [c["cell"] for c in summary["cells"] if c["status"] in ("untrusted", "damaged", "failed")]
        return sn.assert_false(doubtful, msg=f"not to be believed: {doubtful}")

    @run_before("performance")
    def costs(self):
        summary = self._summary()
        headline = {e["name"]: e["headline"] for e in summary["experiments"]}

        def of(cell):
            phase = cell["phases"][headline[cell["experiment"]]]
            return sn.make_performance_function(sn.defer(phase["per_unit_ns"]["median"]), "ns")

        measured = [c for c in summary["cells"] if c["status"] == "ok" and not c.get("hidden")]
        name = lambda c: "_".join([c["cell"].replace("/", "_").replace("@", "_")] + sorted(c["parameters"].values()))
        self.perf_variables = {name(c): of(c) for c in measured if headline[c["experiment"]] in c["phases"]}
