"""The methods of `read`."""
