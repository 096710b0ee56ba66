rule represent:
    input:
        f"{RESULTS}/{{study}}/{{task}}/data.nc",
    output:
        f"{RESULTS}/{{study}}/{{task}}/{{representation}}.representation.nc",
    log:
        f"{RESULTS}/logs/{{study}}/{{task}}/{{representation}}.represent.log",
    benchmark:
        f"{RESULTS}/benchmarks/{{study}}/{{task}}/{{representation}}.represent.tsv"
    priority: urgency(1)
    group:
        packed
    conda:
        "../../envs/environment.yaml"
    threads: cores("represent")
    resources:
        mem_mb=memory("represent"),
        runtime=minutes("represent"),
        gpu=gpus("represent"),
    params:
        parameters=parameters("represent"),
        code=code("represent"),
        expected=expected,
        compute_threads=cores("represent"),
    script:
        "../scripts/represent.py"
