"""The executable theory of hierarchical learning: teachers, representations, learners, and the claims made of them.

import hierlearn

kernel = hierlearn.build("kernels", {"name": "ntk", "depth": 3})
study = hierlearn.load_study("config/studies/chen2020-sample-complexity.yaml", preset="quick")
scores = hierlearn.load_results("results/quick/chen2020-sample-complexity/scores.nc")
print(hierlearn.compare(X, y, ["ntk", "quad-neural", "ridge"]))
"""

from importlib import import_module

__version__ = "0.1.0"
# Public name -> where it is defined. Loaded when it is asked for: a job imports what it needs and no more.
PUBLIC = {
    "available": ("hierlearn.core.registry", "available"),
    "build": ("hierlearn.core.registry", "build"),
    "load_study": ("hierlearn.pipeline.plan.checking", "load_study"),
    "compare": ("hierlearn.comparison.compare", "compare"),
    "load_results": ("hierlearn.pipeline.files.cubes", "load"),
    "in_words": ("hierlearn.pipeline.files.cubes", "in_words"),
}


def __getattr__(name: str):
    if name not in PUBLIC:
        raise AttributeError(f"hierlearn has no {name}; it has {', '.join(PUBLIC)}")
    module, function = PUBLIC[name]
    return getattr(import_module(module), function)


def __dir__() -> list[str]:
    return ["__version__", *PUBLIC]
