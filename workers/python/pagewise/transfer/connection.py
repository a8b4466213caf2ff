"""multiprocessing.Pipe() as it is used: an object of bytes by send() and recv(), pickled and made anew."""
from pagewise.transfer import common, objects


def run(s):
    common.run(s, lambda s: objects.send_object(s, bytes))


def run_b(s):
    common.run(s, lambda s: objects.receive_object(s, bytes))
