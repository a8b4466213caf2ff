"""The methods of `transfer`."""
