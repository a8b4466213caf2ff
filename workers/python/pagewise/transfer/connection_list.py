"""multiprocessing.Pipe() and a list of numbers: each one is pickled and made anew."""
from array import array

from pagewise.transfer import common, objects


def numbers(data):
    return list(memoryview(data).cast("d"))


def run(s):
    common.run(s, lambda s: objects.send_object(s, numbers))


def run_b(s):
    common.run(s, lambda s: objects.receive_object(s, lambda thing: array("d", thing)))
