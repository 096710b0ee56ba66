"""The executable theory of hierarchical learning: teachers, representations, learners, and the claims made of them."""

__version__ = "0.1.0"
