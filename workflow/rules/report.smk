rule figure:
    input:
        scores=plan.inputs.of_study("scores"),
        traces=plan.inputs.of_study("traces"),
        probes=plan.inputs.probes,
    output:
        svg=report(
            f"{plan.results}/{{study}}/figure.svg",
            caption="../report/figure.rst",
            category="Figures",
            labels={"study": "{study}"},
        ),
        pdf=f"{plan.results}/{{study}}/figure.pdf",
        png=f"{plan.results}/{{study}}/figure.png",
    log:
        f"{plan.results}/logs/{{study}}/figure.log",
    priority: order.of("figure")
    group:
        "verdict"
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=plan.requests.memory("figure"),
        runtime=plan.requests.minutes("figure"),
    params:
        parameters=plan.inputs.parameters("figure"),
        code=plan.inputs.code("figure"),
        expected=plan.inputs.expected,
    script:
        "../scripts/figure.py"


rule judge:
    input:
        scores=plan.inputs.of_study("scores"),
        traces=plan.inputs.of_study("traces"),
        probes=plan.inputs.probes,
    output:
        f"{plan.results}/{{study}}/claims.json",
        f"{plan.results}/{{study}}/judged.nc",
    log:
        f"{plan.results}/logs/{{study}}/judge.log",
    priority: order.of("judge")
    group:
        "verdict"
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=plan.requests.memory("judge"),
        runtime=plan.requests.minutes("judge"),
    params:
        parameters=plan.inputs.parameters("judge"),
        code=plan.inputs.code("judge"),
        expected=plan.inputs.expected,
    script:
        "../scripts/judge.py"


# The page of a study that is asked for by its name.
rule page:
    input:
        claims=f"{plan.results}/{{study}}/claims.json",
        scores=plan.inputs.of_study("scores"),
        figure=f"{plan.results}/{{study}}/figure.svg",
        compared=plan.inputs.compared,
    output:
        report(
            f"{plan.results}/{{study}}/index.html",
            caption="../report/page.rst",
            category="Claims",
            labels={"study": "{study}"},
        ),
    log:
        f"{plan.results}/logs/{{study}}/page.log",
    priority: order.of("judge")
    group:
        "verdict"
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=plan.requests.memory("page"),
        runtime=plan.requests.minutes("page"),
    params:
        parameters=plan.inputs.parameters("page"),
        code=plan.inputs.code("page"),
        expected=plan.inputs.expected,
    script:
        "../scripts/page.py"


# All figures on one sheet, light and dark, to look at before they are shown: hierlearn contact-sheet.
rule contact_sheet:
    input:
        plan.inputs.pictures,
    output:
        light=f"{plan.results}/figures.png",
        dark=f"{plan.results}/figures-dark.png",
    log:
        f"{plan.results}/logs/contact_sheet.log",
    conda:
        "../../envs/environment.yaml"
    script:
        "../scripts/contact_sheet.py"
