rule train:
    input:
        unpack(training_inputs),
        data=f"{RESULTS}/{{study}}/{{task}}/data.nc",
    output:
        kept_model(f"{RESULTS}/{{study}}/{{task}}/{{learner}}.model.nc"),
    log:
        f"{RESULTS}/logs/{{study}}/{{task}}/{{learner}}.train.log",
    benchmark:
        f"{RESULTS}/benchmarks/{{study}}/{{task}}/{{learner}}.train.tsv"
    priority: urgency(0)
    group:
        packed
    conda:
        "../../envs/environment.yaml"
    threads: cores("train")
    resources:
        mem_mb=memory("train"),
        runtime=minutes("train"),
        gpu=gpus("train"),
    params:
        parameters=parameters("train"),
        code=code("train"),
        expected=expected,
        compute_threads=cores("train"),
    script:
        "../scripts/train.py"
