"""The composition root: opens the adapters that the settings choose, and closes them in reverse order.

Only commands and serving import it; below deploy nothing knows which adapter it has."""
