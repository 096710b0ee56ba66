rule probe:
    output:
        f"{RESULTS}/{{study}}/{{probe}}.probe.nc",
    log:
        f"{RESULTS}/logs/{{study}}/{{probe}}.probe.log",
    benchmark:
        f"{RESULTS}/benchmarks/{{study}}/{{probe}}.probe.tsv"
    priority: 1000
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=memory("probe"),
        runtime=minutes("probe"),
    params:
        parameters=parameters("probe"),
        code=code("probe"),
        compute_threads=1,
    script:
        "../scripts/probe.py"
