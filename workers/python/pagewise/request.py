"""Reads a request: key=value lines. Anything wrong ends the worker with one sentence and exit status 2, the same sentence as
the native worker's."""
import sys


class Cell:
    """One method with its parameters."""

    def __init__(self, number, line):
        self.number, self.line = number, line
        self.method = None
        self.parameters = {}
        self.ended = False  # skipped or failed: its remaining slots are not run
        self.least_ns = None  # its shortest turn so far


def refuse(line, words):
    sys.stderr.write("request line %d: %s\n" % (line, words))
    sys.exit(2)


def number_of(line, key, text):
    if not text or text[0] not in "0123456789":
        refuse(line, "%s=%s is not a whole number" % (key, text))
    if not (text.isascii() and text.isdigit()) or int(text) >= 1 << 64:
        refuse(line, "%s=%s is not a whole number below 2^64" % (key, text))
    return int(text)


def yes(line, key, text):
    if text not in ("yes", "no"):
        refuse(line, "%s=%s is neither yes nor no" % (key, text))
    return text == "yes"


class Request:
    """All that the laboratory asks of one launch."""

    def __init__(self, text, known):
        self.known = known
        self.experiment = self.role = self.rendezvous = None
        self.directory, self.name = "/tmp", "pagewise-by-hand"
        self.seed = 0
        self.trace_marks = self.hardware_counters = False
        self.cells, self.rounds = [], []
        try:
            lines = text.decode().split("\n")
        except UnicodeDecodeError:
            refuse(1, "the request is not UTF-8")
        if b"\0" in text:
            refuse(1, "the request contains a zero byte")
        if lines and not lines[-1]:
            lines.pop()
        first, number = True, 0
        for number, line in enumerate(lines, 1):
            if not line or line.startswith("#"):
                continue
            if first and not line.startswith("protocol="):
                refuse(number, "a request begins with protocol=1")
            first = False
            self.take(number, line)
        if first:
            refuse(1, "the request is empty")
        if not self.cells or not self.rounds:
            refuse(number, "a request needs at least one cell and one round")
        for cell in self.cells:
            self.require_declared_keys(cell)

    def take(self, line, text):
        key, found, value = text.partition("=")
        if not found or not key:
            refuse(line, '"%s" is not key=value' % text)
        if key == "protocol":
            if value != "1":
                refuse(line, "protocol=%s is not spoken here; this worker speaks 1" % value)
        elif key == "cell":
            if self.experiment is None:
                refuse(line, "cell before experiment")
            if number_of(line, key, value) != len(self.cells):
                refuse(line, "cell=%s, but cells are numbered in order and %d is next" % (value, len(self.cells)))
            self.cells.append(Cell(len(self.cells), line))
        elif key in ("round", "warmup"):
            self.add_round(line, key, value)
        elif self.rounds:
            refuse(line, 'key "%s" after the rounds' % key)
        elif self.cells:
            self.cell_key(line, self.cells[-1], key, value)
        else:
            self.launch_key(line, key, value)

    def launch_key(self, line, key, value):
        if key in ("experiment", "rendezvous", "directory", "name"):
            setattr(self, key, value)
        elif key == "launch":
            number_of(line, key, value)
        elif key == "seed":
            self.seed = number_of(line, key, value)
        elif key == "role":
            if value not in ("a", "b"):
                refuse(line, "role=%s is neither a nor b" % value)
            self.role = value
        elif key in ("trace_marks", "hardware_counters"):
            setattr(self, key, yes(line, key, value))
        else:
            refuse(line, 'unknown key "%s"' % key)

    def cell_key(self, line, cell, key, value):
        if key == "method":
            if cell.method is not None:
                refuse(line, "cell %d has two methods" % cell.number)
            found = [m for m in self.known if m.experiment == self.experiment and m.name == value]
            if not found:
                refuse(line, 'unknown method "%s" of experiment "%s"' % (value, self.experiment))
            cell.method = found[0]
            return
        if cell.method is None:
            refuse(line, 'cell %d names "%s" before its method' % (cell.number, key))
        check_parameter(line, cell.method, key, value)
        if key in cell.parameters:
            refuse(line, 'key "%s" stands twice in cell %d' % (key, cell.number))
        cell.parameters[key] = value

    def add_round(self, line, key, value):
        index, found, words = value.partition(" ")
        if not found:
            refuse(line, "a round is written round=NUMBER CELL,CELL,…")
        number = number_of(line, key, index)
        if key == "warmup" and number == 0:
            refuse(line, "warm-up rounds count from 1")
        cells = []
        for word in filter(None, words.split(",")):
            at = number_of(line, "cell", word)
            if at >= len(self.cells):
                refuse(line, "there is no cell %s" % word)
            cells.append(self.cells[at])
        if not cells:
            refuse(line, "a round without cells")
        self.rounds.append((-number if key == "warmup" else number, cells))

    def require_declared_keys(self, cell):
        if cell.method is None:
            refuse(cell.line, "cell %d has no method" % cell.number)
        for key in cell.method.keys:
            if key not in cell.parameters:
                name = "%s/%s" % (self.experiment, cell.method.name)
                refuse(cell.line, 'cell %d lacks the key "%s" of method %s' % (cell.number, key, name))


def is_of(word, value):
    """True if a choice's word stands for a value: for itself, or with the number that its `<time>` is."""
    lead, is_open, _ = word.partition("<")
    return value.startswith(lead) and value[len(lead):len(lead) + 1].isdigit() if is_open else value == word


def check_parameter(line, method, key, value):
    kind = method.keys.get(key)
    if kind is None:
        words = (key, method.experiment, method.name, method.attributes["keys"])
        refuse(line, 'unknown key "%s" for method %s/%s (it takes %s)' % words)
    if kind in ("size", "count", "number"):
        if number_of(line, key, value) == 0 and kind != "number":
            refuse(line, "%s=0 leaves nothing to measure" % key)
    elif kind == "text":
        if not value:
            refuse(line, "%s is empty" % key)
    elif not any(is_of(word, value) for word in kind.split("|")):
        refuse(line, "%s=%s is not one of %s" % (key, value, kind))
