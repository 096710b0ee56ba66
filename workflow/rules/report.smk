rule figure:
    input:
        scores=of_study("scores"),
        traces=of_study("traces"),
        probes=probes_of,
    output:
        svg=report(
            f"{RESULTS}/{{study}}/figure.svg",
            caption="../report/figure.rst",
            category="Figures",
            labels={"study": "{study}"},
        ),
        pdf=f"{RESULTS}/{{study}}/figure.pdf",
        png=f"{RESULTS}/{{study}}/figure.png",
    log:
        f"{RESULTS}/logs/{{study}}/figure.log",
    benchmark:
        f"{RESULTS}/benchmarks/{{study}}/figure.tsv"
    group:
        "verdict"
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=memory("figure"),
        runtime=minutes("figure"),
    params:
        parameters=parameters("figure"),
        code=code("figure"),
        expected=expected,
        compute_threads=1,
    script:
        "../scripts/figure.py"


rule judge:
    input:
        scores=of_study("scores"),
        traces=of_study("traces"),
        probes=probes_of,
    output:
        f"{RESULTS}/{{study}}/claims.json",
    log:
        f"{RESULTS}/logs/{{study}}/judge.log",
    benchmark:
        f"{RESULTS}/benchmarks/{{study}}/judge.tsv"
    group:
        "verdict"
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=memory("judge"),
        runtime=minutes("judge"),
    params:
        parameters=parameters("judge"),
        code=code("judge"),
        expected=expected,
        compute_threads=1,
    script:
        "../scripts/judge.py"


rule ledger:
    input:
        claims=claims_of_studies,
        figures=figures_of_studies,
    output:
        table=f"{RESULTS}/claims.nc",
        csv=f"{RESULTS}/claims.csv",
        page=report(
            f"{RESULTS}/index.html",
            caption="../report/ledger.rst",
            category="Claims",
        ),
    log:
        f"{RESULTS}/logs/ledger.log",
    benchmark:
        f"{RESULTS}/benchmarks/ledger.tsv"
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=needs.ledger().mem_mb,
        runtime=needs.ledger().runtime,
    params:
        studies=page_entries,
        preset=SETTINGS["preset"],
        code=jobs.code("ledger", []),
        expected=expected,
        compute_threads=1,
    script:
        "../scripts/ledger.py"
