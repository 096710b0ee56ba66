"""What the command line asks of Snakemake, which itself does not know before all files are read."""

import functools
from argparse import Namespace


@functools.cache
def asked(words: tuple[str, ...]) -> Namespace:
    """Return what the words after `snakemake` ask for, as its own parser reads them."""
    from snakemake.cli import get_argument_parser

    return get_argument_parser().parse_known_args(list(words))[0]


def is_dry(words: tuple[str, ...]) -> bool:
    """Return whether a command line of Snakemake asks for a dry run."""
    given = asked(words)
    return bool(given.dryrun) or given.executor == "dryrun"
