rule evaluate:
    input:
        unpack(evaluation_inputs),
        data=f"{RESULTS}/{{study}}/{{task}}/data.nc",
    output:
        scores=f"{RESULTS}/{{study}}/{{task}}/scores.nc",
        traces=f"{RESULTS}/{{study}}/{{task}}/traces.nc",
    log:
        f"{RESULTS}/logs/{{study}}/{{task}}/evaluate.log",
    benchmark:
        f"{RESULTS}/benchmarks/{{study}}/{{task}}/evaluate.tsv"
    group:
        packed
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=memory("evaluate"),
        runtime=minutes("evaluate"),
        gpu=gpus("evaluate"),
    params:
        parameters=parameters("evaluate"),
        code=code("evaluate"),
        expected=expected,
        representations=lambda wildcards: evaluation_files(wildcards)[0],
        models=lambda wildcards: evaluation_files(wildcards)[1],
        compute_threads=1,
    script:
        "../scripts/evaluate.py"
