rule generate:
    output:
        f"{plan.results}/{{study}}/{{task}}/data.nc",
    log:
        f"{plan.results}/logs/{{study}}/{{task}}/generate.log",
    priority: order.of("generate")
    group:
        plan.requests.pack
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=plan.requests.memory("generate"),
        runtime=plan.requests.minutes("generate"),
    params:
        parameters=plan.inputs.parameters("generate"),
        code=plan.inputs.code("generate"),
    script:
        "../scripts/generate.py"
