rule represent:
    input:
        f"{plan.results}/{{study}}/{{task}}/data.nc",
    output:
        f"{plan.results}/{{study}}/{{task}}/{{representation}}.representation.nc",
    log:
        f"{plan.results}/logs/{{study}}/{{task}}/{{representation}}.represent.log",
    priority: order.of("represent")
    group:
        plan.requests.pack
    conda:
        "../../envs/environment.yaml"
    threads: plan.requests.cores("represent")
    resources:
        mem_mb=plan.requests.memory("represent"),
        runtime=plan.requests.minutes("represent"),
        gpu=plan.requests.gpus("represent"),
    params:
        parameters=plan.inputs.parameters("represent"),
        code=plan.inputs.code("represent"),
        expected=plan.inputs.expected,
        compute_threads=plan.requests.cores("represent"),
    script:
        "../scripts/represent.py"
