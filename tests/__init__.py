"""Tests of ritbot, and what is run beside it. Nothing here is installed, and nothing outside imports it.

unit/         pure functions and single classes, in the product's rooms; milliseconds each
contract/     one suite a port: every adapter behind it passes the same tests (a line in conftest.py makes it)
integration/  several parts together, over sockets, files and servers, in one process; in the product's rooms
e2e/          `ritbot` commands and roles as processes, as a user types them; the page of `make play` in a browser
chaos/        `make chaos`: whoever may die does, and nothing is lost; a short run of it is a test
bench/        `make bench-…`: figures, and what is measured; no tests
play/         `make play`: the whole bot in a workspace on a local page; a program, no tests (those: unit/play, e2e)
fakes/        stand-ins for what ritbot talks to: Slack, a model's API, Qdrant, documentation sites, and small doubles
servers/      real Kafka and OpenSearch on loopback ports, for tests and for `make cluster`
data/         pages with the trees that they must become

Real pages and questions lie in a folder called `shared` beside the checkout (conftest.py). test_layers.py holds the
arrows between the product's layers and rooms.
"""
