"""multiprocessing.Pipe() and a numpy array by send() and recv()."""
from pagewise.transfer import common, objects


def side_a(s):
    numpy = s.numpy()
    objects.send_object(s, lambda data: numpy.frombuffer(data, dtype=numpy.uint8).copy())


def side_b(s):
    s.numpy()
    objects.receive_object(s, memoryview)


def run(s):
    common.run(s, side_a)


def run_b(s):
    common.run(s, side_b)
