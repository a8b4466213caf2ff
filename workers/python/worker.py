"""The Python worker. CPython and its library are part of what is measured, so this is run by the user's own interpreter and
needs no package; it speaks the same protocol as the other workers (workers/PROTOCOL.md). With a file of the user's it is the
worker of that file's functions."""
import sys

if sys.version_info < (3, 8):
    sys.exit("the Python worker needs Python 3.8 or newer, and this is %d.%d" % sys.version_info[:2])

if sys.argv[1:2] and sys.argv[1].endswith(".py"):
    from pagewise import own as worker
else:
    from pagewise import launch as worker

worker.main(sys.argv[1:])
