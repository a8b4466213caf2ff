"""The Python worker. CPython and its library are part of what is measured, so this is run by the user's own interpreter and
needs no package; it speaks the same protocol as the other workers (workers/PROTOCOL.md)."""
import sys

if sys.version_info < (3, 8):
    sys.exit("the Python worker needs Python 3.8 or newer, and this is %d.%d" % sys.version_info[:2])

from pagewise import launch  # noqa: E402

launch.main(sys.argv[1:])
