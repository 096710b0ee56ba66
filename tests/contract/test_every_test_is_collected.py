"""pytest imports test files by their bare names: of two with one name, those of the second do not run."""

from collections import Counter
from pathlib import Path


def test_no_two_files_of_tests_have_one_name():
    counts = Counter(file.name for file in Path(__file__).parents[1].rglob("*.py") if file.name != "conftest.py")
    assert [name for name, count in counts.items() if count > 1] == []
