import os
import subprocess
import sys
from pathlib import Path

TOOL = Path(__file__).parents[1] / "tools" / "run_parts.py"

MAKEFILE = """
test-core:
	@echo === 12 passed, 3 skipped in 1.00s ===
test-engines:
	@echo NOT TESTED: Spark, because there is no Java here.
	@echo FAILED tests/test_it.py::test_it
	@echo === 1 failed, 7 passed in 1.00s ===
	@touch ended
	@exit 1
lint:
	@echo all well
coverage:
	@ls ended
"""


def run(folder, *parts):
    """The status, the rows of the table without their seconds, and all lines."""
    (folder / "Makefile").write_text(MAKEFILE)
    command, variables = [sys.executable, TOOL, *parts], os.environ | {"MAKEFLAGS": "s"}
    told = subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True, check=False)
    rows = [line.split() for line in told.stdout.splitlines() if line.endswith(("PASSED", "FAILED"))]
    return told.returncode, {(part, tests, word) for part, tests, _, _, word in rows}, told.stdout.splitlines()


def test_parts_that_pass_end_in_a_table(tmp_path):
    status, rows, lines = run(tmp_path, "test-core", "lint")
    assert status == 0
    assert rows == {("test-core", "12", "PASSED"), ("lint", "-", "PASSED"), ("all", "12", "PASSED")}
    assert lines[-1].startswith("all ")


def test_a_part_that_fails_is_shown_and_told_again_below_the_table_while_the_others_go_on(tmp_path):
    status, rows, lines = run(tmp_path, "test-engines", "test-core", "coverage")
    assert status == 1
    assert rows >= {("test-engines", "8", "FAILED"), ("test-core", "12", "PASSED"), ("all", "20", "FAILED")}
    assert lines.index("=== 1 failed, 7 passed in 1.00s ===") < lines.index("part             tests  seconds   of CPU")
    assert lines[-2:] == ["NOT TESTED: Spark, because there is no Java here.", "FAILED tests/test_it.py::test_it"]


def test_coverage_waits_for_what_it_judges(tmp_path):
    _, rows, _ = run(tmp_path, "test-engines", "coverage")
    assert ("coverage", "-", "PASSED") in rows
