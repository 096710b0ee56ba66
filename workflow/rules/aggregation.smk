rule aggregate:
    input:
        scores=plan.inputs.of_tasks("scores"),
        traces=plan.inputs.of_tasks("traces"),
    output:
        scores=f"{plan.results}/{{study}}/scores.nc",
        traces=f"{plan.results}/{{study}}/traces.nc",
    log:
        f"{plan.results}/logs/{{study}}/aggregate.log",
    priority: order.of("aggregate")
    group:
        "verdict"
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=plan.requests.memory("aggregate"),
        runtime=plan.requests.minutes("aggregate"),
    params:
        parameters=plan.inputs.parameters("aggregate"),
        code=plan.inputs.code("aggregate"),
        expected=plan.inputs.expected,
    script:
        "../scripts/aggregate.py"
