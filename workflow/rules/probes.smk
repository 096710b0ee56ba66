rule probe:
    output:
        f"{plan.results}/{{study}}/{{probe}}.probe.nc",
    log:
        f"{plan.results}/logs/{{study}}/{{probe}}.probe.log",
    priority: order.of("probe")
    conda:
        "../../envs/environment.yaml"
    threads: plan.requests.cores("probe")
    resources:
        mem_mb=plan.requests.memory("probe"),
        runtime=plan.requests.minutes("probe"),
        gpu=plan.requests.gpus("probe"),
    params:
        parameters=plan.inputs.parameters("probe"),
        code=plan.inputs.code("probe"),
        compute_threads=plan.requests.cores("probe"),
    script:
        "../scripts/probe.py"
