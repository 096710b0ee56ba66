# `snakemake <study>` and `snakemake <paper>`.
for target, studies in plan.targets.by_name().items():

    rule:
        name:
            target
        input:
            plan.targets.files_of(studies),
            plan.targets.pages_of(studies),
