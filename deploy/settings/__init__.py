"""Every setting: its type, default, bounds and help, and what somebody with a wrong one is told.

The environment and the settings file enter here and nowhere else; all of deploy may import it, no other layer."""
