"""``python -m tests.fuzz``: fuzz all readers and commands for as long as you like.

Broken files that are not handled as they should be are kept in out/fuzz, with the line that tries them again.
"""

import argparse
import contextlib
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tests.fuzz.campaign import Case, Failure, Tally, campaign, data_of, try_file, turns
from tests.fuzz.corpus import COMPANIONS, seeds
from tests.fuzz.subjects import SUBJECTS, Subject

OUT = Path("out/fuzz")


def main() -> int:
    arguments = _arguments()
    chosen = [subject for name, subject in SUBJECTS.items() if not arguments.only or name in arguments.only]
    if arguments.file is not None:
        return _again(chosen[0], arguments.file)
    began = time.monotonic()

    def cases() -> Iterator[Case]:
        for done, case in enumerate(turns(chosen, arguments.seed)):
            if done >= arguments.cases or time.monotonic() - began > arguments.seconds:
                return
            yield case

    tally = campaign(cases(), _tell)
    _table(tally)
    return 1 if tally.failures else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="how long")
    parser.add_argument("--cases", type=float, default=float("inf"), help="how many")
    parser.add_argument("--seed", type=int, default=0, help="another seed gives other files")
    parser.add_argument("--only", action="append", choices=SUBJECTS, help="one subject; may be repeated")
    parser.add_argument("--file", type=Path, help="try this file with the subject of --only")
    return parser.parse_args()


def _tell(tally: Tally, failure: Failure | None) -> None:
    done = tally.tried.total()
    if failure is not None:
        OUT.mkdir(parents=True, exist_ok=True)
        case = failure.case
        name = f"{case.subject.name.replace(' ', '-')}-{case.seed}-{case.number}{case.subject.ending}"
        (OUT / name).write_bytes(data_of(case))
        print(f"{case.subject.name}: {failure.reason.strip()}")
        print(f"  again: python -m tests.fuzz --only '{case.subject.name}' --file {OUT / name}", flush=True)
    if done % 1000 == 0:
        print(f"{done} cases, {tally.seconds:.0f} s, {len(tally.failures)} failures", flush=True)


def _again(subject: Subject, file: Path) -> int:
    data = file.read_bytes()
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):  # where commands leave what they write
        for name, text in (COMPANIONS | {"log.csv": seeds("log")[0].decode()}).items():
            (Path(folder) / name).write_text(text)
        reason, accepted, seconds = try_file(subject, data, Path(folder))
    print(reason or ("accepted" if accepted else "refused"), f"({seconds:.2f} s)")
    return 0 if reason is None else 1


def _table(tally: Tally) -> None:
    print(f"{'subject':30}{'cases':>8}{'accepted':>10}{'seconds':>9}{'slowest':>9}{'failures':>10}")
    failed = Counter(failure.case.subject.name for failure in tally.failures)
    for name, tried in tally.tried.items():
        times = f"{tally.took[name]:9.0f}{tally.slowest[name]:9.2f}"
        print(f"{name:30}{tried:8}{tally.accepted[name]:10}{times}{failed[name]:10}")
    print(f"{'all':30}{tally.tried.total():8}{tally.accepted.total():10}{tally.seconds:9.0f}{failed.total():19}")


if __name__ == "__main__":
    sys.exit(main())
