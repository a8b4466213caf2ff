"""A file on a disk's file system."""
from pagewise.share.mapped_file import use_file


def run(s):
    use_file(s, s.launch.request.directory, False)
