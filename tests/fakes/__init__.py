"""Stand-ins for what ritbot talks to, with the limits and the faults of the real thing; nothing here patches anything.
A double that one file needs lives in that file."""
