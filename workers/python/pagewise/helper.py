"""What Python cannot do itself is asked of the helper program, whose path the laboratory gives in the environment."""
import os
import subprocess


def path():
    return os.environ.get("PAGEWISE_HELPER")


def start(s, purpose, *words):
    """Starts the helper with these words; skips the cell where it is not known."""
    if not path():
        s.skip(purpose + " needs the helper's path in PAGEWISE_HELPER")
    return subprocess.Popen([path(), *map(str, words)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def answer(s, purpose, *words):
    """What it prints, once it has ended."""
    with start(s, purpose, *words) as process:
        text, _ = process.communicate()
    return text.decode()


def prepared(s, words):
    """Has it put a file's cached pages into a state; what it found, by name."""
    found = {}
    for line in answer(s, "the state of the page cache", "prepare-file", *words).splitlines():
        fields = line.split("\t")
        if fields[0] == "skip":
            s.skip(fields[2])
        if fields[0] == "fail":
            s.fail(fields[4], fields[6], int(fields[5]))
        name, value = line.split()
        found[name] = int(value)
    if not found:
        s.fail("prepare-file", "the helper said nothing")
    return found
