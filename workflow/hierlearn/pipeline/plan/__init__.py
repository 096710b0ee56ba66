"""What is to be run, and whether it can be.

To read the room, begin with what a run goes through: `configuration` makes the plan from settings and studies. A
study is read by `files/load` and checked by `checking` in stages: `files/schema_errors` for its shape; `study_spec`,
`section_checks`, `references` and `coordinates` for names; `claim_checks`, `formulas` and `grid_checks` for what it
means. `validation_context` keeps the faults that are found. It is then a `study` with its `grid` and `sizes`, at one
of the `presets`, with its `replicates`. `targets` names its files, `jobs` the parameters and the code of what makes
them, `rule_inputs` what that reads, and `resources` what it needs, for `resource_requests` and `estimates`.

Around it: `asked_studies` are those that a run reads; `folders` and `adhoc_study` are other places that studies come
from; `registration` what is written down of designs; `page_context` and `quantity_labels` are what the page says of a
study.
"""
