"""What is to be run, and whether it can be."""

import os
import sys

if os.name == "nt":
    sys.exit("error: system: found Windows; expected Linux or macOS, or Windows' Subsystem for Linux")
