"""A certificate shows itself: as a table, as JSON, in a notebook."""

import io
import json
import subprocess
import sys

import numpy as np
import pytest
from rich.console import Console

import tricover as tc
from tests.certificates.flights import team
from tricover.certificates import Certificate, Claim, Fault, log_of
from tricover.errors import InputError

KEYS = [
    "evidence",
    "structure",
    "anchors",
    "theorem1",
    "C1",
    "C2",
    "theorem2",
    "finite-time",
    "containment",
    "theorem3",
]


def certificate(broken=False):
    network, positions = team(0, steps=4)
    if broken:
        positions[3, network.layers[-1][0]] += 9
    return tc.certify(log_of(positions, network, name="<flight>"))


def test_one_entry_per_claim_each_with_its_equation():
    found = certificate()
    assert [claim.key for claim in found] == [*KEYS, "neighbourhood", "separation"]
    assert all(claim.equation and claim.summary.endswith(".") for claim in found)
    assert found["C2"].figures["window"] >= 1
    with pytest.raises(InputError, match="theorem1"):
        found["theorem9"]


def test_json_holds_everything():
    found = certificate(broken=True)
    document = json.loads(found.to_json())
    assert document["holds"] is False
    claim = next(claim for claim in document["claims"] if claim["key"] == "theorem1")
    assert claim["verdict"] == "fails"
    assert claim["faults"][0] == vars(found["theorem1"].faults[0])
    assert claim["figures"]["reasons"] == {"outside its triangle": 1}


def test_numbers_that_are_none_are_null():
    odd = Claim("odd", "Odd", "0 = 0", "holds", "Odd.", {"a": float("nan"), "b": np.float64(2), "c": np.int64(3)})
    figures = json.loads(Certificate("nothing", (odd,)).to_json())["claims"][0]["figures"]
    assert figures == {"a": None, "b": 2.0, "c": 3}


def test_table_and_notebook():
    console = Console(width=120, record=True, file=io.StringIO())
    console.print(certificate(broken=True))
    text = console.export_text()
    assert "does not hold" in text
    assert "step 2: outside its triangle" in " ".join(text.split())
    html = certificate(broken=True)._repr_html_()
    assert "&lt;flight&gt;" in html
    assert html.count("<tr>") == 13
    assert repr(certificate()).startswith("Certificate of <flight> (")


def test_faults_read_well():
    assert str(Fault(3, 7, 0.25, "m", "outside")) == "agent 3, step 7: outside (0.25 m)"
    assert str(Fault(3, 7, 2.0, "", "twice")) == "agent 3, step 7: twice (2)"


@pytest.mark.parametrize("first", ["", "import tricover.certificates; ", "from tricover.certificates import Log; "])
def test_the_verb_is_there_whatever_was_imported_before(first):
    team = "reference=[[0, 0], [4, 0], [0, 4], [1, 1]], targets=[[1, 1]]"
    code = f"{first}import tricover as tc; tc.certify(tc.Scenario({team}))"
    subprocess.run([sys.executable, "-c", code], check=True)
