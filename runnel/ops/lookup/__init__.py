"""Tables from keys to values."""
