# `snakemake <study>` and `snakemake <paper>`.
for target, studies in targets().items():

    rule:
        name:
            target
        input:
            kept_files(studies),
