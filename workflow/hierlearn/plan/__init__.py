"""What is to be run, and whether it can be."""
