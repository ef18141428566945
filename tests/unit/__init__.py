"""Pure functions and single classes, in the rooms of what they are about. No server and no process is started here."""
