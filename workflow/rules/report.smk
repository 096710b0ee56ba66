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


rule ledger:
    input:
        claims=plan.inputs.claims,
        figures=plan.inputs.figures,
        second=plan.inputs.second,
        compared=plan.inputs.compared,
    output:
        table=f"{plan.results}/claims.nc",
        csv=f"{plan.results}/claims.csv",
        page=report(
            f"{plan.results}/index.html",
            caption="../report/ledger.rst",
            category="Claims",
        ),
    log:
        f"{plan.results}/logs/ledger.log",
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=plan.requests.memory("ledger"),
        runtime=plan.requests.minutes("ledger"),
    params:
        parameters=plan.inputs.parameters("ledger"),
        code=plan.inputs.code("ledger"),
        expected=plan.inputs.expected,
    script:
        "../scripts/ledger.py"


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
