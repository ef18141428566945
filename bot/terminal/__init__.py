"""Answers and trees as the terminal shows them.
rich enters here; what is printed comes from pages and models, and is made safe first."""
