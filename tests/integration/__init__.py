"""Several parts of ritbot together, in one process, in the rooms of what they are about: over sockets, files, the fakes
and real servers. Commands as processes are in e2e/."""
