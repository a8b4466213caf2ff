"""The user's own functions as methods: `@pagewise.bench` marks them, and this file runs them as a worker named `own`."""
import ast
import hashlib
import importlib.util
import inspect
import os
import re
import stat
import sys
import textwrap

from pagewise import content, helper, launch
from pagewise.transcript import Transcript

EXPERIMENT, WHOLE = "bench", "run"
found, parameters, settings = [], {}, {"fresh": False, "bytes": False}
# Units of a number that is no size: times are in nanoseconds.
UNITS = {"": 1, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "ns": 1, "us": 1e3, "µs": 1e3, "ms": 1e6, "s": 1e9, "min": 6e10}


class Bench:
    """A marked function, with what methods.tsv says of a built-in one."""

    two_sided = False

    def __init__(self, function, baseline):
        self.function, self.baseline = function, baseline
        self.name, self.experiment = function.__name__, EXPERIMENT
        self.phases = phases_of(function) or [WHOLE]
        self.is_whole = not phases_of(function)
        self.takes_run = bool(inspect.signature(function).parameters)
        self.role = "method"

    @property
    def keys(self):
        return {name: kinds_of(values)[0] for name, values in parameters.items()}

    @property
    def line(self):
        keys = " ".join("%s:%s" % key for key in self.keys.items())
        line = self.function.__code__.co_firstlineno
        return "method\t%s\t%s\trole=%s\tsummary=%s, line %d\tphases=%s\tkeys=%s\tmemory=0\tisolation=shared" % (
            self.experiment, self.name, self.role, self.name, line, " ".join(self.phases), keys)

    def module(self):
        return self

    def run(self, s):
        run = Run(s)
        if self.takes_run and not self.is_whole:
            value = self.function(run)
        else:
            with s.phase(WHOLE):
                value = self.function(run) if self.takes_run else self.function()
        run.result(value)
        if settings["bytes"] and not run.has_bytes:
            s.fail(self.name, "it says no bytes, as another function of the file does, so their figures have not the same unit")


class Empty(Bench):
    """An empty body: the cost of the stopwatch alone."""

    def __init__(self, phases):
        super().__init__(self.nothing, False)
        self.name, self.role, self.phases = "empty", "null", phases

    def nothing(self):
        pass

    def run(self, s):
        for phase in self.phases:
            with s.phase(phase):
                pass


class Run:
    """One turn of a function."""

    def __init__(self, slot):
        self.slot, self.has_result, self.has_bytes = slot, False, False

    def phase(self, name):
        """`with run.phase("join"):` times its body and nothing else."""
        return self.slot.phase(name)

    def value(self, name):
        """The value of a parameter in this turn: a number (times in nanoseconds), or its word or path."""
        value = self.slot.cell.parameters[name]
        number = number_of(value)
        return value if number is None else number

    def input(self, name, seed):
        """The path of a file of as many bytes as a parameter says, with the content that INPUT of pagewise.h has with this seed.
        It is made once and removed with the launch: ask for it before a phase."""
        bytes_ = self.value(name)
        path = os.path.join(self.slot.launch.request.directory, "input-%s-%d-%d" % (name, bytes_, seed))
        try:
            with open(path, "xb", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
                file.write(content.pattern(seed, bytes_))
        except FileExistsError:
            pass  # an earlier turn has made it
        return path

    def cold(self, path):
        """Takes a file out of the page cache, before a phase that reads it. A file that stays in memory skips the function."""
        size = os.path.getsize(path)
        words = ["file=" + os.fspath(path), "bytes=%d" % size, "place=any", "consume=none", "order=sequential", "cache=cold"]
        stays = helper.prepared(self.slot, words + ["memory=unbounded"])["resident_before_bytes"]
        if 64 * stays > size:
            self.slot.skip("%s cannot be made cold: %d of its %d bytes stay in memory" % (path, stays, size))

    def operations(self, count):
        """Operations in each phase that follows."""
        self.slot.ops = count

    def bytes(self, count):
        """Their number of bytes instead, for figures in GB/s; every function of the file has it then."""
        self.slot.ops = self.slot.phase_bytes = count
        self.has_bytes = True

    def skip(self, reason):
        """Ends this turn: the machine cannot do this."""
        self.slot.skip(reason)

    def result(self, value):
        """What the work came to; every function must come to the same."""
        if value is None or self.has_result:
            return
        self.has_result = True
        if not isinstance(value, int):
            data = value if isinstance(value, (bytes, bytearray)) else repr(value).encode()
            value = int.from_bytes(hashlib.sha256(data).digest()[:8], "little")
        self.slot.fact_digest(value % (1 << 64))


def bench(function=None, *, baseline=False):
    """Marks a function that `pagewise bench FILE.py` measures. The others are compared with the baseline, or with the first."""
    def mark(function):
        found.append(Bench(function, baseline))
        return function
    return mark(function) if function else mark


def param(name, values):
    """Every function is measured at each of these values: `pagewise.param("bytes", "1MiB,64MiB")`. Sizes end in B; numbers may have
    a unit, ranges are `1KiB..1GiB`, and words and paths stand as they are."""
    parameters[name] = values


def fresh():
    """Each turn runs in a process of its own, which no function has used before. The option --fresh does the same."""
    settings["fresh"] = True


def number_of(text):
    """A number with a unit, or None."""
    parts = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)([A-Za-zµ]*)", text)
    if not parts or parts[2] not in UNITS:
        return None
    number = float(parts[1]) * UNITS[parts[2]]
    return int(text) if text.isdigit() else round(number) if abs(number - round(number)) < 1e-6 else None


def kinds_of(values):
    """Kind of a parameter in the protocol, and the one by which the laboratory reads its values (as in bench.c)."""
    values = [value.strip() for value in values.split(",")]
    if all(re.fullmatch(r"[0-9]+|[0-9]+\.\.[0-9]+(\*[0-9]+)?", value) for value in values):
        return "number", "number"
    if all(re.fullmatch(r"[0-9]+|[0-9].*B(\*[0-9]+)?", value) for value in values):
        return "size", "size"
    if all(number_of(value) is not None for value in values):
        return "text", "unit"
    if any("/" in value or "." in value for value in values):
        return "text", "path"
    if not all(re.fullmatch(r"[A-Za-z0-9_+-]+", value) for value in values):
        return "text", "text"
    return "|".join(values), "word"


def calls_of(function, above=()):
    """The calls in a function's source, and in those of the file's functions that it calls, in their order."""
    for node in ast.walk(ast.parse(textwrap.dedent(inspect.getsource(function)))):
        if not isinstance(node, ast.Call):
            continue
        yield node
        helper = function.__globals__.get(node.func.id) if isinstance(node.func, ast.Name) else None
        is_helper = inspect.isfunction(helper) and helper.__module__ == function.__module__ and helper.__name__ == node.func.id
        if is_helper and helper is not function and helper not in above:
            yield from calls_of(helper, (*above, function))


def phases_of(function):
    """Names of the phases of a function and of what it calls, in their order."""
    names = []
    for call in calls_of(function):
        is_phase = isinstance(call.func, ast.Attribute) and call.func.attr == "phase"
        if is_phase and call.args and isinstance(call.args[0], ast.Constant) and call.args[0].value not in names:
            names.append(call.args[0].value)
    return names


def has_rate(function):
    """True if the function, or what it calls, calls `bytes` of its run."""
    return any(isinstance(call.func, ast.Attribute) and call.func.attr == "bytes" for call in calls_of(function))


def has_result(function):
    """True if a function's source returns a value, other than in a function within it, or says what its work came to."""
    within = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    nodes = list(tree.body[0].body)
    while nodes:
        node = nodes.pop()
        if isinstance(node, ast.Return) and node.value is not None:
            return True
        if not isinstance(node, within):
            nodes.extend(ast.iter_child_nodes(node))
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call))
    return any(isinstance(call.func, ast.Attribute) and call.func.attr == "result" for call in calls)


def listed():
    lines = ["about\tparameter\t%s\t%s\t%s" % (name, kinds_of(values)[1], values) for name, values in parameters.items()]
    settings["bytes"] = any(has_rate(one.function) for one in found)
    if settings["bytes"]:
        lines.append("about\tunit\tbyte")
    marked = [one.name for one in found if one.baseline] or [one.name for one in found[:1]]
    if marked:
        lines.append("about\tbaseline\t" + ",".join(marked))
    if settings["fresh"]:
        lines.append("about\tfresh\tyes")
    lines.append("about\tresults\t" + ("yes" if any(has_result(one.function) for one in found) else "no"))
    return lines


def keep_transcript():
    """What a script prints is no part of the transcript: it goes nowhere."""
    Transcript.descriptor = os.dup(1)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.close(nowhere)


def may_be_changed(folder, owner):
    """True if another user than root and the owner of the script can put a file into this folder, or replace it."""
    me, is_last = os.geteuid(), True
    while True:
        about = os.stat(folder)
        others = 0o002 if about.st_gid == about.st_uid != 0 else 0o022
        is_sticky = about.st_mode & stat.S_ISVTX and not is_last
        if about.st_uid not in (0, me, owner) or (about.st_mode & others and not is_sticky):
            return True
        if folder == os.path.dirname(folder):
            return False
        folder, is_last = os.path.dirname(folder), False


def main(arguments):
    path, *rest = arguments
    if rest[:1] == ["--fresh"]:
        fresh()
        rest = rest[1:]
    keep_transcript()
    sys.dont_write_bytecode = True
    # A module of another user, named as one of Python's, would be taken for it.
    folder = os.path.realpath(os.path.dirname(os.path.abspath(path)))
    if not may_be_changed(folder, os.stat(path).st_uid):
        sys.path.insert(0, folder)
    spec = importlib.util.spec_from_file_location("__pagewise__", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    empty = [Empty(list(dict.fromkeys(phase for one in found for phase in one.phases)))]
    launch.serve(rest, found + empty, launch.about("own"), listed(), settings["fresh"], True)
