"""What is to be run, and whether it can be.

To read the room, begin with what a run goes through: `configuration` makes the plan from settings and studies. A study
is read by `files/load`, checked by `checking` in stages (`files/violations` for its shape against schemas; `declared`,
`sections`, `references` and `coordinates` for names; `claims`, `formulas`, `plausibility` for what it means;
`validation_context` keeps the faults that are found), and is then a `study` with its `grid` and `sizes`, at one of the
`presets`, with its `draws`. `targets` names its files, `jobs` the parameters and the code of what makes them, `inputs`
what that reads, and `resources` what it needs, for `cluster` and `estimates`.

Around it: `asked_studies` are those that a run reads; `folders` and `question` are other places that studies come from;
`registration` and `history` what is written down of designs and verdicts; `commands` what a run refuses; `told` and
`units` are what the page says of a study; `study_schema` is for editors.
"""
