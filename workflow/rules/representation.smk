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
    conda:
        "../../envs/environment.yaml"
    params:
        parameters=parameters("represent"),
        code=code("represent"),
        compute_threads=1,
    script:
        "../scripts/represent.py"
