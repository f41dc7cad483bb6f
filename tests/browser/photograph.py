"""Photographs a report for the documentation: run `python -m tests.browser.photograph` where the repository is."""

import base64
import io
import tempfile
from pathlib import Path

import matplotlib as mpl
from PIL import Image

import tricover as tc
from tests.browser.chromium import chromium
from tricover.report import write_report

ROOT = Path(__file__).parents[2]
SIZE = {"width": 1200, "height": 1180, "deviceScaleFactor": 1.5, "mobile": False}
SCENE = """
document.documentElement.style.setProperty("scrollbar-width", "none");
const player = document.querySelector("figure.playback").playback;
player.jump(12);
player.select(29);
"""


def main():
    mpl.use("Agg")
    scenario = tc.Scenario.load(ROOT / "src" / "tricover" / "paper" / "paper-57.toml").to_dict()
    scenario["control"] |= {"motion": "walk"}
    with tempfile.TemporaryDirectory() as folder, chromium(Path(folder) / "profile") as browser:
        page = write_report(tc.simulate(tc.Scenario(**scenario)), Path(folder) / "report.html")
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", SIZE)
        browser.get(page.as_uri())
        browser.execute_script(SCENE)
        picture = browser.execute_cdp_cmd("Page.captureScreenshot", {"format": "png"})["data"]
    image = Image.open(io.BytesIO(base64.b64decode(picture))).convert("RGB")
    image.quantize(256, kmeans=2).save(ROOT / "docs" / "images" / "report.png", optimize=True)


if __name__ == "__main__":
    main()
