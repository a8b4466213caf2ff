"""The methods of `fault`."""
