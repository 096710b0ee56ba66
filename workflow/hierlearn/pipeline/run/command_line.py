"""What the command line asks of Snakemake, which itself does not know before all files are read."""

import functools
from argparse import Namespace

from hierlearn.pipeline.files import load


@functools.cache
def asked(words: tuple[str, ...]) -> Namespace:
    """Return what the words after `snakemake` ask for, as its own parser reads them."""
    from snakemake.cli import get_argument_parser

    return get_argument_parser().parse_known_args(list(words))[0]


def twice(words: tuple[str, ...]) -> str:
    """Return what a command line of Snakemake gives twice as a setting, where the last one counts; "" for nothing."""
    if sum(word.partition("=")[0] in ("--config", "-C") for word in words) > 1:
        return "--config"
    given = [word.partition("=") for word in asked(words).config or ()]
    names = [name for name, *_ in given]
    repeated = [name for name in names if names.count(name) > 1]
    # A value that is no YAML at all is refused as what it is for.
    return next((found for found in (*repeated, *(load.repeated_key(text) for *_, text in given)) if found), "")


def is_dry(words: tuple[str, ...]) -> bool:
    """Return whether a command line of Snakemake asks for a dry run."""
    given = asked(words)
    return bool(given.dryrun) or given.executor == "dryrun"
