"""The top layer: settings, the composition root, the `ritbot` command, this manual, files for containers.

Nothing imports it but tests; it alone knows which adapter stands behind which port."""
