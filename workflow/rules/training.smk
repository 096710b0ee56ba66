rule train:
    input:
        data=f"{plan.results}/{{study}}/{{task}}/data.nc",
        representation=plan.inputs.representation,
    output:
        kept(f"{plan.results}/{{study}}/{{task}}/{{learner}}.model.nc"),
    log:
        f"{plan.results}/logs/{{study}}/{{task}}/{{learner}}.train.log",
    priority: order.of("train")
    group:
        plan.requests.pack
    conda:
        "../../envs/environment.yaml"
    threads: plan.requests.cores("train")
    resources:
        mem_mb=plan.requests.memory("train"),
        runtime=plan.requests.minutes("train"),
        gpu=plan.requests.gpus("train"),
    params:
        parameters=plan.inputs.parameters("train"),
        code=plan.inputs.code("train"),
        expected=plan.inputs.expected,
        compute_threads=plan.requests.cores("train"),
    script:
        "../scripts/train.py"
