"""Reproduction of the papers: cells are kept one by one, and the page says what they say."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from kernelm.app.cli.app import app
from papers import beside, catalog, page, runner
from papers.expected import Expected, Printed
from papers.experiment import Column, Mode
from papers.verdicts import CONFIRMED, NOT_CONFIRMED, NOT_TESTABLE, Standing, standing

ROOT = Path(__file__).parents[1]
EXPERIMENTS = catalog.experiments()
CHEAP = "elm_svr.figure3"  # three cells of milliseconds, without data

every_experiment = pytest.mark.parametrize("name", EXPERIMENTS)


def command(*arguments, code=0):
    found = CliRunner().invoke(app, ["reproduce", *map(str, arguments)])
    assert found.exit_code == code, (found.output, found.exception)
    return found.stdout, found.stderr


# --- running -------------------------------------------------------------------------------------


def test_what_is_done_is_not_done_again(tmp_path):
    cells = runner.missing([CHEAP], Mode.QUICK, tmp_path)
    told = []
    assert runner.run(cells[:2], tmp_path, told.append, jobs=1) == []
    assert [p.n_done for p in told] == [1, 2]
    assert told[-1].seconds_left == 0
    left = runner.missing([CHEAP], Mode.QUICK, tmp_path)
    assert left == cells[2:]
    assert runner.missing([CHEAP], Mode.QUICK, tmp_path, again=True) == cells
    # Another process has the same results; what is kept says how it came about.
    kept = json.loads((tmp_path / "elm_svr" / "results" / "figure3.json").read_text("utf-8"))
    assert {"date", "machine", "python", "versions"} <= kept.keys()
    assert all(cell["mode"] == "quick" for cell in kept["cells"].values())


def test_a_quick_run_does_not_replace_a_full_one(tmp_path):
    full = runner.missing([CHEAP], Mode.FULL, tmp_path)[:1]
    runner.run(full, tmp_path, lambda progress: None, jobs=1)
    names = {c.machine for c in runner.missing([CHEAP], Mode.QUICK, tmp_path)}
    assert full[0].machine not in names
    quick = [runner.Cell(*CHEAP.split("."), "zero", m, Mode.QUICK) for m in names]
    runner.run(quick, tmp_path, lambda progress: None, jobs=1)
    assert {c.machine for c in runner.missing([CHEAP], Mode.FULL, tmp_path)} == names


def test_a_cell_that_fails_takes_no_other_with_it(tmp_path):
    good = runner.missing([CHEAP], Mode.QUICK, tmp_path)[0]
    bad = runner.Cell("elm_svr", "figure3", "zero", "no such machine", Mode.QUICK)
    failed = runner.run([bad, good], tmp_path, lambda progress: None, jobs=1)
    assert [done.cell for done in failed] == [bad]
    assert "Traceback" in failed[0].error
    assert good not in runner.missing([CHEAP], Mode.QUICK, tmp_path)


def test_cells_that_are_kept_survive_an_interruption(tmp_path):
    cells = runner.missing([CHEAP], Mode.QUICK, tmp_path)

    def interrupt(progress):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        runner.run(cells, tmp_path, interrupt, jobs=1)
    assert len(runner.missing([CHEAP], Mode.QUICK, tmp_path)) == len(cells) - 1


def test_tables_that_share_fits_share_their_cells(tmp_path):
    for name, (paper, table) in EXPERIMENTS.items():
        if table.source:
            home = catalog.table(paper.key, table.source)
            assert not home.source
            assert {c.table for c in runner.missing([name], Mode.QUICK, tmp_path)} == {home.name}


# --- the command ---------------------------------------------------------------------------------


def test_the_command_lists_what_there_is():
    out, _ = command()
    assert all(name in out for name in EXPERIMENTS)
    listed = json.loads(command("--json")[0])
    assert [row["name"] for row in listed] == list(EXPERIMENTS)


def test_the_command_runs_a_table_and_writes_the_page(tmp_path):
    out, err = command(CHEAP, "--quick", "--results", tmp_path, "--jobs", "1")
    assert "1e-3" in out
    assert "3/3" in err
    text = (tmp_path / "papers.md").read_text("utf-8")
    assert "## Summary" in text
    again, err = command(CHEAP, "--quick", "--results", tmp_path)
    assert err == ""
    assert again == out


def test_results_with_other_seeds_are_kept_apart(tmp_path):
    command("elm_svr.figure2", "--quick", "--results", tmp_path, "--first-seed", "1000")
    kept = [catalog.results("elm_svr", f) for f in (tmp_path, catalog.recount(tmp_path))]
    (cell,) = kept[1].file("figure2")["cells"].values()
    assert kept[0].file("figure2")["cells"] == {}
    assert cell["result"]["seeds"][0] == 1000
    assert "### Counted once more" in (tmp_path / "papers.md").read_text("utf-8")


def test_unknown_names_are_refused_with_those_that_are_near():
    _, err = command("nkelm.table", code=2)
    assert "nkelm.table4" in err


def test_outside_of_a_clone_the_command_says_where_experiments_are(tmp_path):
    _, err = command("--papers", tmp_path, code=2)
    assert "clone" in err
    assert "--papers" in err


# --- what is compared ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("printed", "ours", "column", "expected"),
    [
        (Printed(90.0), 90.0, Column("x"), Standing.BETTER),
        (Printed(90.0), 89.0, Column("x"), Standing.REPRODUCED),
        (Printed(90.0), 88.9, Column("x"), Standing.WORSE),
        (Printed(90.0), None, Column("x"), Standing.NOT_RUN),
        (None, 90.0, Column("x"), Standing.NOT_COMPARED),
        (Printed(3.0), 1.0, Column("x", better=""), Standing.NOT_COMPARED),
        (Printed(2.0, 1.5, 2.5), 2.4, Column("x", better="lower"), Standing.REPRODUCED),
        (Printed(2.0, 1.5, 2.5), 2.6, Column("x", better="lower"), Standing.WORSE),
        (Printed(2.0, 1.5, 2.5), 1.0, Column("x", better="lower"), Standing.BETTER),
    ],
)
def test_standing(printed, ours, column, expected):
    assert standing(printed, ours, column) is expected


def test_reasons_go_from_the_cell_to_the_table(tmp_path):
    file = tmp_path / "expected.toml"
    file.write_text('[reasons]\n"t" = "all"\n"t/r" = "row"\n"t/r/c" = "cell"\n', "utf-8")
    expected = Expected(file)
    found = [expected.reason("t", row, column) for row, column in ("rc", "rd", "sc")]
    assert found == ["cell", "row", "all"]


@every_experiment
def test_printed_numbers_belong_to_cells(name):
    paper, table = EXPERIMENTS[name]
    content = catalog.expected(paper.key)._content.get(table.name, {})
    columns = {column.name for column in table.columns}
    for row, numbers in content.items():
        assert row in table.rows, f"{name}: {row}"
        assert numbers.keys() <= columns, f"{name}: {row}"


@every_experiment
def test_reasons_for_not_running_name_what_is_there(name):
    _, table = EXPERIMENTS[name]
    for key in table.not_run:
        row, _, machine = key.partition("/")
        assert row == "*" or row in table.rows, key
        assert not machine or machine in table.machines, key


def test_claims_are_judged_even_before_anything_is_run(tmp_path):
    for key in catalog.KEYS:
        for claim in catalog.paper(key).claims:
            verdict, text = claim.judge(catalog.results(key, tmp_path))
            assert verdict in (CONFIRMED, NOT_CONFIRMED, NOT_TESTABLE)
            assert text


# --- what is committed ---------------------------------------------------------------------------


def test_the_page_is_what_the_results_give(tmp_path):
    assert page.text(catalog.FOLDER) == (ROOT / "docs" / "papers.md").read_text("utf-8")


@every_experiment
def test_every_cell_has_a_result(name):
    paper, table = EXPERIMENTS[name]
    for cell in beside.cells(paper, table):
        assert cell.mode is not None or table.why_not(cell.row, cell.column.machine), (name, cell)


def test_every_worse_cell_has_a_reason():
    for key in catalog.KEYS:
        for cell in beside.every(catalog.paper(key)):
            if cell.standing is Standing.WORSE:
                assert cell.reason, f"{key} {cell.table} {cell.row} {cell.column.name}"
