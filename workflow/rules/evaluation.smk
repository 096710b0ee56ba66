rule evaluate:
    input:
        data=f"{plan.results}/{{study}}/{{task}}/data.nc",
        representations=plan.inputs.representation_files,
        models=plan.inputs.models,
    output:
        scores=f"{plan.results}/{{study}}/{{task}}/scores.nc",
        traces=f"{plan.results}/{{study}}/{{task}}/traces.nc",
    log:
        f"{plan.results}/logs/{{study}}/{{task}}/evaluate.log",
    priority: order.of("evaluate")
    group:
        plan.requests.pack
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=plan.requests.memory("evaluate"),
        runtime=plan.requests.minutes("evaluate"),
        gpu=plan.requests.gpus("evaluate"),
    params:
        parameters=plan.inputs.parameters("evaluate"),
        code=plan.inputs.code("evaluate"),
        expected=plan.inputs.expected,
        representations=plan.inputs.representations,
    script:
        "../scripts/evaluate.py"
