"""The `ritbot` command: a module for every command, in rooms by what they are for.

A module of a room is imported when its command is called; nothing below imports from here."""
