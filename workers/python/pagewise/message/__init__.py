"""The methods of `message`."""
