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
    threads: cores("probe")
    resources:
        mem_mb=memory("probe"),
        runtime=minutes("probe"),
        gpu=gpus("probe"),
    params:
        parameters=parameters("probe"),
        code=code("probe"),
        compute_threads=cores("probe"),
    script:
        "../scripts/probe.py"
