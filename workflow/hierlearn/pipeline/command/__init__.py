"""The command `hierlearn`: what you can ask of the workflow from a terminal."""
