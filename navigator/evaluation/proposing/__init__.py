"""From the sections of a site to questions with answers, quotes and gold, for a person to check.
Sections come in from the stores; only `ritbot questions` and the tests come here.
"""
