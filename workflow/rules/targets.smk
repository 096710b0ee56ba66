# `snakemake <study>` and `snakemake <paper>`.
for target, studies in targets().items():

    rule:
        name:
            target
        input:
            expand(f"{RESULTS}/{{study}}/claims.json", study=studies),
            expand(f"{RESULTS}/{{study}}/figure.svg", study=studies),
