"""The harness of the Python worker, and a package of methods for each experiment."""
