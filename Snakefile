# The entry that Snakemake looks for; everything is in workflow/. An include loses the default target, hence the rule.
include: "workflow/Snakefile"


rule default:
    default_target: True
    input:
        rules.all.input,
