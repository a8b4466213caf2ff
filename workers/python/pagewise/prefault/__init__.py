"""The methods of `prefault`."""
