rule generate:
    output:
        f"{RESULTS}/{{study}}/{{task}}/data.nc",
    log:
        f"{RESULTS}/logs/{{study}}/{{task}}/generate.log",
    benchmark:
        f"{RESULTS}/benchmarks/{{study}}/{{task}}/generate.tsv"
    priority: urgency(0)
    conda:
        "../../envs/environment.yaml"
    params:
        parameters=parameters("generate"),
        code=code("generate"),
        compute_threads=1,
    script:
        "../scripts/generate.py"
