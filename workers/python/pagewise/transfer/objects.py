"""Passing one object through a multiprocessing.Pipe() by send() and recv(): what is common to bytes, lists and arrays."""
from multiprocessing.connection import Connection

from pagewise import content
from pagewise.transfer import common
from pagewise.transfer.unix_stream import open_ends


def connection(s):
    return Connection(open_ends(s).detach())


def send_object(s, made):
    """`made` makes the object of the pattern's bytes."""
    pipe, thing = connection(s), made(content.pattern(s.seed, s.bytes))
    s.sides.meet()
    with s.phase("send", "write"):
        pipe.send(thing)
    common.sent(s, content.pattern(s.seed, s.bytes), 1, 0)
    pipe.close()


def receive_object(s, unmade):
    """`unmade` gives the memory of the object that came, outside the clock."""
    pipe = connection(s)
    s.sides.meet()
    with s.phase("receive", "read"):
        thing = pipe.recv()
    common.received(s, unmade(thing), 1, 0)
    pipe.close()
