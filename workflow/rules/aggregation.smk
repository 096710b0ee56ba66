rule aggregate:
    input:
        scores_of_tasks,
    output:
        f"{RESULTS}/{{study}}/scores.nc",
    log:
        f"{RESULTS}/logs/{{study}}/aggregate.log",
    benchmark:
        f"{RESULTS}/benchmarks/{{study}}/aggregate.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        parameters=parameters("aggregate"),
        code=code("aggregate"),
        compute_threads=1,
    script:
        "../scripts/aggregate.py"
