"""The `ritbot` command: which commands there are, what each is for, and the console script.

A command is a module of one of the rooms beside this one: its options and its work. It is imported when it is called,
and none for the list of them, so that `ritbot ask` beside `ritbot serve` loads nothing that it does not need. What an
exit status says is in command_line.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any, Final

import typer
from rich.console import Console
from rich.text import Text
from typer.core import TyperCommand, TyperGroup

from deploy.settings.messages import SettingsError

HELP = "Answers questions from a documentation site and links every claim to the section it read."
MARKUP: Final = "markdown"
COMMANDS = {
    "index": ("documents.index", "Index a folder of HTML or a website, or bring its index up to date."),
    "ask": ("asking.ask", "Ask a question; the answer links to the sections that were read."),
    "cite": ("asking.cite", "Find sections by their words, each with the link that stays."),
    "tree": ("asking.tree", "Draw a page as ritbot reads it, or a node with what stands around it."),
    "demo": ("asking.demo", "Index ritbot's own manual, ask it four questions, then take yours."),
    "sites": ("documents.sites", "List the sites with what is indexed of them and what is wrong with their pages."),
    "doctor": ("upkeep.doctor", "Check settings, weights, data folder, index and model, and say what to do."),
    "settings": ("upkeep.settings", "List every setting with what it takes, its default and what it is for."),
    "serve": ("roles.serve", "Do everything in one process until stopped: watch, index, and answer."),
    "watch": ("roles.watch", "Keep the index in step with the sites until stopped."),
    "indexer": (
        "roles.indexer",
        "Index what the watcher announces on Kafka, until stopped; any number of them share the work.",
    ),
    "answer": (
        "roles.answer",
        "Answer the questions that people ask in Slack, until stopped; any number of them share the work.",
    ),
    "slack": ("roles.slack", "Listen to Slack and write down what is asked, until stopped; `init` sets it up."),
    "web": ("roles.web", "Show sections to whoever kept a link to them, until stopped."),
    "answers": ("asking.answers", "List what people asked and what became of it, export it, or show one answer whole."),
    "stale": ("asking.stale", "List the answers that rest on words which have changed since they were given."),
    "gaps": (
        "asking.gaps",
        "List what people ask and the documentation does not answer, each where the answer should stand.",
    ),
    "forget": ("upkeep.forget", "Remove a person's questions and answers, and their name wherever it is kept."),
    "enrich": (
        "evaluation.enrich",
        "Let the model write summaries of sections, and titles inside long sections that have none.",
    ),
    "reindex": ("documents.reindex", "After an upgrade of ritbot, read the pages again that the version before made."),
    "reembed": (
        "documents.reembed",
        "Bring the search index to the embedding model that is set, without fetching a page.",
    ),
    "reconcile": ("documents.reconcile", "Compare the search index with the pages, and mend it without fetching."),
    "dead-letters": (
        "documents.dead_letters",
        "List the events that could not be handled, each with the reason, or send them back.",
    ),
    "backup": (
        "upkeep.backup",
        "Write pages, ids, watch states and what the bot keeps to a file. Works while ritbot runs.",
    ),
    "restore": ("upkeep.restore", "Put a backup back into an empty store, and make the search index anew from it."),
    "eval": (
        "evaluation.eval",
        "Ask questions whose answers are known by several strategies, and report which is right at what cost.",
    ),
    "questions": (
        "evaluation.questions",
        "Let the model propose questions with answers from a site's own pages, to be checked by a person.",
    ),
    "curate": ("evaluation.curate", "Let the model make examples to train a router for the strategy rdr2 with."),
}
"""Name: the module under deploy.commands, and the help. What is called `command` in the module is a function with
typer's options as its arguments, or a Typer with commands under it."""


class LazyCommand(TyperCommand):
    """Stands for a command until it is called."""

    def __init__(self, name: str, module: str, purpose: str) -> None:
        super().__init__(name, help=purpose, rich_markup_mode=MARKUP)
        self._module = module

    def make_context(self, info_name: Any, args: Any, parent: Any = None, **extra: Any) -> Any:
        """The context of the command itself, so that nothing more is asked of this one."""
        found = import_module(f"deploy.commands.{self._module}").command
        if not isinstance(found, typer.Typer):
            one = typer.Typer(add_completion=False, rich_markup_mode=MARKUP)
            one.command()(found)
            found = one
        command = typer.main.get_command(found)
        command.name, command.help = self.name, self.help
        return command.make_context(info_name, args, parent, **extra)


app = TyperGroup(
    name="ritbot",
    help=HELP,
    commands=[LazyCommand(name, module, purpose) for name, (module, purpose) in COMMANDS.items()],
    no_args_is_help=True,
    rich_markup_mode=MARKUP,
)


def main() -> None:
    """The console script. Settings errors that occur before a command runs end as plainly. What ritbot writes is for its
    owner alone: questions, answers and pages behind a login lie in it."""
    os.umask(0o077)
    try:
        app()
    except SettingsError as error:
        Console(stderr=True).print(Text(str(error), style="red"), soft_wrap=True)
        raise SystemExit(2) from None
