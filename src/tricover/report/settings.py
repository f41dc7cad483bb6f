"""All settings of the run, and how to run it again from the report alone.

The scenario is shown and given away with all positions in it, so that it depends on no other file. Long lists are left
out of what is shown, not of what is given away.
"""

import base64
import platform
import re
from importlib.metadata import version

from tricover.errors import InputError
from tricover.report.markup import Html, code_block, paragraph, slug
from tricover.report.page import Section
from tricover.simulation import Run

__all__ = ["again_section", "settings_section"]

_NUMBERS = re.compile(r"(= \[[^,\n]+, [^,\n]+), ([-+.e\d, ]{80,})\]")
LARGEST = 8_000_000  # characters of a scenario beyond which browsers refuse the link
_ROWS = 12  # of arrays that are shown
_LIBRARIES = ("tricover", "numpy", "scipy", "numba")


def settings_section(run: Run) -> Section:
    """The scenario, defaults included."""
    try:
        toml = run.mission.self_contained().to_toml(longest=_ROWS)
    except InputError as error:
        return Section("Settings", paragraph(f"The scenario lives in Python only: {error}."))
    said = "The scenario as a TOML file, defaults included. Long lists of numbers are in the download below."
    return Section("Settings", Html(paragraph(said) + code_block(shortened(toml))))


def again_section(run: Run) -> Section:
    """The scenario as a file in a link, the commands, and the versions."""
    name = slug(run.scenario.name)
    versions = {"python": platform.python_version(), **{library: version(library) for library in _LIBRARIES}}
    made_by = paragraph("Made with " + ", ".join(f"{name} {number}" for name, number in versions.items()) + ".")
    link = _download(run, f"{name}.toml")
    commands = (
        f"pip install .   # in a clone of Tricover's repository, version {versions['tricover']}\n"
        f"tricover run {name}.toml -o {name}.zarr\n"
        f"tricover certify {name}.zarr\n"
        f"tricover report {name}.zarr -o {name}.html\n"
    )
    said = paragraph("The same scenario gives the same run, number for number, on the same versions.")
    return Section("Run it again", Html(link + said + code_block(commands) + made_by))


def _download(run: Run, name: str) -> Html:
    points = len(run.mission.ground.reference) + len(run.mission.targets)
    huge = 6 * points > LARGEST  # a point takes more characters than that
    try:
        toml = run.mission.self_contained().to_toml(longest=_ROWS if huge else None)
    except InputError as error:
        return paragraph(f"Without the Python code that made it this run cannot be made again: {error}.")
    if huge or len(toml) > LARGEST:
        return paragraph("The scenario is too long for a link in a page: the run's folder holds it.")
    data = base64.b64encode(toml.encode()).decode()
    size = f"{max(1, round(len(toml) / 1000)):,} kB"
    link = f'<a class="button" download="{name}" href="data:application/toml;base64,{data}">Download {name}</a>'
    return Html(f'<p>{link} <span class="note">{size}, with all positions in it</span></p>\n')


def shortened(toml: str) -> str:
    """The same text with long lists cut out; it says how many numbers they have.

    >>> shortened("agents = [" + ", ".join(map(str, range(100))) + "]")
    'agents = [0, 1, … 98 more]'
    """
    return _NUMBERS.sub(lambda found: f"{found[1]}, … {found[2].count(',') + 1:,} more]", toml)
