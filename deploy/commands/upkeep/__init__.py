"""Commands of an operator: check an installation, list settings, back up, restore, forget a person.

They read what is there; only restore and forget change it."""
