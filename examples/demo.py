"""The paper's 57 agents: who listens to whom, and two runs that settle. Run it with `make demo`."""

from pathlib import Path

import matplotlib as mpl

import tricover as tc
from tricover.cli.main import app
from tricover.formats import read_points
from tricover.plot import plot_cells, plot_layers, plot_network, save_figure

TEAM = Path(__file__).with_name("team-57.csv")
SCENARIO = Path(__file__).with_name("paper-57.toml")
OUT = Path("out")


def main() -> None:
    mpl.use("Agg")
    OUT.mkdir(exist_ok=True)
    print(f"$ tricover network {TEAM.name}\n")
    app(["network", str(TEAM)], standalone_mode=False)

    network = tc.build_network(read_points(TEAM).positions)
    shallow = tc.build_network(network.reference, mentee="balanced")
    print(f"\nThe balanced mentee rule needs {shallow.depth} layers where the paper's needs {network.depth}.")
    print("\nFigures:")
    for name, plot in (("formation", plot_network), ("cells", plot_cells), ("layers", plot_layers)):
        path = OUT / f"{name}.png"
        save_figure(plot(network), path)
        print(f"  {path}")

    print("\nThe team covers a triangular domain (paper, Section VI):")
    scenario = tc.Scenario.load(SCENARIO)
    bounds = {"reach": network.depth + 1, "walk": network.depth * (2 * scenario.control.resolution - 1) + 1}
    for motion, bound in bounds.items():
        control = scenario.control.model_copy(update={"motion": motion})
        run = tc.simulate(scenario.model_copy(update={"control": control}))
        error = abs(run.positions[-1] - run.desired).max()
        verdict = "holds" if tc.certify(run).holds else "does not hold"
        print(
            f"  {motion}: settled at step {run.settled_at}, guaranteed by {bound}, {error:g} m from its desired place"
        )
        print(f"    its certificate {verdict}")


if __name__ == "__main__":
    main()
