"""The truth as a file, and back: the format, and the sections that trees and notes have in it.
The bot's store adds its own; the commands `ritbot backup` and `ritbot restore` enter."""
