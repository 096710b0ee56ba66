from hierlearn.plan import recovery


if workflow.is_main_process and not DRY:
    recovery.end_orphans()
    recovery.clear(Path(RESULTS))
    recovery.tell(recovery.verify(Path(RESULTS), planned))
    # Every job has this in its environment.
    os.environ.update(HIERLEARN_RUN=os.getcwd())
elif workflow.is_main_process:
    # A dry run changes nothing, and Snakemake cannot read these.
    for record, output in recovery.damaged_records():
        sys.exit(f"error: {output} has a damaged record, {record}; a run without --dry-run makes it again")
