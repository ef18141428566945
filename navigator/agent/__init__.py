"""One question on its way through a model: its run, the loop with tools, and what the model is told.
Strategies import it; it knows models by their port, and no strategy."""
