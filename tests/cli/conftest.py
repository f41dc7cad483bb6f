"""What the tests of the commands share."""

import sys

import pytest

from tricover.cli.main import main


@pytest.fixture
def complaint(monkeypatch, capsys):
    """Run the command, which must fail with exit code 2; gives the one line that it says on stderr."""

    def fail(*args):
        monkeypatch.setattr(sys, "argv", ["tricover", *map(str, args)])
        with pytest.raises(SystemExit) as stop:
            main()
        out, err = capsys.readouterr()
        assert (stop.value.code, out, err.count("\n")) == (2, "", 1), err
        assert err.startswith("tricover: ")
        return err.removeprefix("tricover: ").strip()

    return fail
