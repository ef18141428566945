"""Work on many things by a model, for whoever runs it from a terminal: side by side, under a ceiling, begun again where it stopped.
Enrichment and evaluation stand on it; it knows neither.
"""
