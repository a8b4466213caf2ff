"""What methods.tsv declares. The laboratory reads the same file, without starting an interpreter."""
import importlib
import os

FILE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "methods.tsv")


class Method:
    """One line of methods.tsv; its source is a module with `run(s)`, and `run_b(s)` where it has two sides."""

    def __init__(self, line):
        self.line = line
        _, self.experiment, self.name, *rest = line.split("\t")
        self.attributes = dict(field.split("=", 1) for field in rest)
        self.phases = self.attributes["phases"].split()
        self.keys = dict(key.split(":", 1) for key in self.attributes["keys"].split())
        self.two_sided = self.attributes.get("sides") == "2"

    def module(self):
        """"workers/python/pagewise/share/null.py" is the module pagewise.share.null."""
        path = self.attributes["source"][len("workers/python/"):-len(".py")]
        return importlib.import_module(path.replace("/", "."))


def methods():
    with open(FILE, encoding="utf-8") as lines:
        return [Method(line.rstrip("\n")) for line in lines if line.startswith("method\t")]
