rule generate:
    output:
        f"{RESULTS}/{{study}}/{{task}}/data.nc",
    log:
        f"{RESULTS}/logs/{{study}}/{{task}}/generate.log",
    benchmark:
        f"{RESULTS}/benchmarks/{{study}}/{{task}}/generate.tsv"
    priority: urgency(0)
    group:
        packed
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=memory("generate"),
        runtime=minutes("generate"),
    params:
        parameters=parameters("generate"),
        code=code("generate"),
        compute_threads=1,
    script:
        "../scripts/generate.py"
