"""The harness of the Python worker, a package of methods for each experiment, and the decorator for a user's own functions."""


def __getattr__(name):
    """`pagewise.bench`, `pagewise.param` and `pagewise.fresh`, loaded when they are asked for: built-in methods do without."""
    if name not in ("bench", "param", "fresh"):
        raise AttributeError(name)
    from pagewise import own
    return getattr(own, name)
