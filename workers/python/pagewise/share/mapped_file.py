"""A file that is mapped by mmap.mmap and worked in by its elements."""
import mmap
import os

from pagewise.share.common import Elements, Share


def use_file(s, folder, wants_memory):
    share = Share(s, folder)
    elements, path, n = Elements(share), share.path, s.bytes
    s.ops = 1
    with s.phase("map", "mmap"):
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        os.ftruncate(descriptor, n)
        m = mmap.mmap(descriptor, n)
    in_memory = share.proof()
    os.unlink(path)
    if in_memory and not wants_memory:
        s.skip("the directory for files lies in memory; name one on a disk")
    s.ops = n // s.page_bytes
    elements.touch(m)
    share.witness(m, descriptor)
    elements.use(m)
    with s.phase("unmap", "munmap"):
        m.close()
        os.close(descriptor)
