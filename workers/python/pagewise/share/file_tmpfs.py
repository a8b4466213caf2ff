"""A file on tmpfs (/dev/shm)."""
from pagewise.share.mapped_file import use_file


def run(s):
    use_file(s, "/dev/shm", True)
