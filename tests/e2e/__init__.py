"""Commands and roles of ritbot as processes: commands.py starts the one, roles.py the other, forked.py makes both quick.
What can be seen in one process is tested in integration/."""
