"""Grammars at random whose strings are read from the bottom up: the Random Hierarchy Model (Cagnetta et al., 2024).

A symbol of a level stands for any of m strings of s symbols of the level below, its synonyms; no two symbols share one.
Strings are kept as codes, the digits of a number in base v. Rules are given from the bottom: rules[0] makes the leaves
and rules[-1] those of the root, each (symbols of its level, m) codes.
"""

from collections.abc import Iterator, Sequence

import numpy as np


def levels(symbols: int, classes: int, depth: int) -> tuple[int, ...]:
    """Return how many symbols have rules at each level, from the bottom: v, ..., v, n_c."""
    return (*[symbols] * (depth - 1), classes)


def draw_rules(generator: np.random.Generator, parents: int, symbols: int, synonyms: int, branching: int) -> np.ndarray:
    """Draw (parents, m) codes of distinct strings, without replacement from all v^s."""
    return generator.permutation(symbols**branching)[: parents * synonyms].reshape(parents, synonyms)


def digits(codes: np.ndarray, symbols: int, branching: int) -> np.ndarray:
    """Return the s symbols of codes: (...) -> (..., s), the most significant first."""
    return codes[..., None] // symbols ** np.arange(branching)[::-1] % symbols


def expand(
    generator: np.random.Generator, rules: Sequence[np.ndarray], roots: np.ndarray, symbols: int, branching: int
) -> np.ndarray:
    """Draw strings of roots (n, r), each node's synonym uniform: (n, r s^L)."""
    found = roots
    for rule in reversed(rules):
        chosen = rule[found, generator.integers(0, rule.shape[1], found.shape)]
        found = digits(chosen, symbols, branching).reshape(len(roots), -1)
    return found


def parse(rules: Sequence[np.ndarray], strings: np.ndarray, symbols: int, branching: int) -> Iterator[np.ndarray]:
    """Yield the symbols of every level above the leaves, from the bottom: (n, r s^L) -> (n, r s^(L-1)), ..., (n, r).

    -1 where no symbol stands for a string, and everywhere above it.
    """
    found, place = strings, symbols ** np.arange(branching)[::-1]
    for rule in rules:
        parent = np.full(symbols**branching, -1)
        parent[rule] = np.arange(len(rule))[:, None]
        below = found.reshape(len(found), -1, branching)
        found = np.where((below < 0).any(axis=-1), -1, parent[below @ place])
        yield found


def one_hot(strings: np.ndarray, symbols: int) -> np.ndarray:
    """Encode (n, length) as (n, v length) float32, a channel a symbol: (1 - 1/v) or -1/v, times v / sqrt(v - 1).

    Positions follow one another within a channel; |x|^2 is the number of columns.
    """
    hot = strings[:, None, :] == np.arange(symbols)[:, None]
    return ((hot - 1.0 / symbols) * symbols / np.sqrt(symbols - 1.0)).astype(np.float32).reshape(len(strings), -1)


def strings_of(x: np.ndarray, symbols: int) -> np.ndarray:
    """Return what `one_hot` was made of: (n, v length) -> (n, length)."""
    return np.argmax(x.reshape(len(x), symbols, -1), axis=1)
