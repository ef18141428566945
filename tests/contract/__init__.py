"""One suite a port, passed by every adapter behind it. What only one adapter has is in integration/; a port that gets an
adapter gets a line in conftest.py."""
