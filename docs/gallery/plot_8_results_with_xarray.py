"""
Open results with xarray
========================

Every run of a study leaves `scores.nc`: arrays with named axes, one for each measured quantity. Here we ask a
small question in a new folder and open what the run leaves. After `make` you have the results of all studies in
`results/quick`.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt

import hierlearn

project = Path(hierlearn.__file__).parents[2]
folder = Path(tempfile.mkdtemp())
question = "{teacher: {name: ridge_polynomial, degree: 2}, learners: [ntk, linear], dimension: [4, 6, 8], seeds: 3}"
words = ["--snakefile", project / "workflow" / "Snakefile", "--directory", folder, "--cores", "1", "--quiet", "all"]
words += ["--config", f"question={question}"]
subprocess.run([sys.executable, "-m", "snakemake", *words], check=True, capture_output=True)

# %%
# `load_results` compares the file with its checksum and returns a dataset.
scores = hierlearn.load_results(folder / "results" / "question" / "quick" / "my-question" / "scores.nc")
print(scores.test_risk.sizes)

# %%
# One line selects, averages and makes a table.
risk = scores.test_risk.sel(learner="ntk").median("seed")
print(risk.to_series().dropna())

# %%
# The search for n* skips sizes that it does not need, so curves have few points.
figure, axes = plt.subplots(figsize=(6, 4))
for d in risk.dimension.values:
    curve = risk.sel(dimension=d).dropna("samples")
    axes.loglog(curve.samples, curve, "o-", label=f"d = {d}")
axes.set(xlabel="labelled samples n", ylabel="median risk", title="The NTK learns degree 2")
axes.legend(frameon=False)
plt.show()
