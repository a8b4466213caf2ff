"""The methods of `share`."""
