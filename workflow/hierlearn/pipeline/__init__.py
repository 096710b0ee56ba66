"""The workflow: studies from files, jobs that measure them, and the pages that judge what was measured."""
