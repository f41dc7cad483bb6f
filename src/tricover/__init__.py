"""Tricover: decentralised deployment of agent teams over ground targets, with a guarantee.

>>> import tricover as tc
>>> network = tc.build_network([[0, 0], [4, 0], [4, 4], [0, 4], [2, 2], [1, 2], [3, 2.5]])
>>> network.layer.tolist()
[0, 0, 0, 0, 0, 1, 1]

Every public name is listed in ``__all__`` and loaded when it is first used, so that importing the package is quick.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tricover.certificates import certify as certify
    from tricover.coverage import coverage_cost as coverage_cost
    from tricover.coverage import lloyd as lloyd
    from tricover.coverage import plan_formation as plan_formation
    from tricover.errors import TricoverError as TricoverError
    from tricover.geometry import CellGrid as CellGrid
    from tricover.geometry import assign_places as assign_places
    from tricover.geometry import separation as separation
    from tricover.goals import desired_configuration as desired_configuration
    from tricover.goals import goal_points as goal_points
    from tricover.mdp import LocalMDP as LocalMDP
    from tricover.network import Network as Network
    from tricover.network import build_network as build_network
    from tricover.simulation import Run as Run
    from tricover.simulation import Scenario as Scenario
    from tricover.simulation import simulate as simulate
    from tricover.simulation import steps as steps
    from tricover.studies import simulate_parts as simulate_parts
    from tricover.studies import sweep as sweep
    from tricover.studio import view as view
    from tricover.targets import Targets as Targets
    from tricover.vehicles import check_aoc as check_aoc
    from tricover.vehicles import vehicle as vehicle

__version__ = "0.1.0"

_HOME = {
    "CellGrid": "geometry",
    "LocalMDP": "mdp",
    "Network": "network",
    "Run": "simulation",
    "Scenario": "simulation",
    "Targets": "targets",
    "TricoverError": "errors",
    "assign_places": "geometry",
    "build_network": "network",
    "certify": "certificates",
    "check_aoc": "vehicles",
    "coverage_cost": "coverage",
    "desired_configuration": "goals",
    "goal_points": "goals",
    "lloyd": "coverage",
    "plan_formation": "coverage",
    "separation": "geometry",
    "simulate": "simulation",
    "simulate_parts": "studies",
    "steps": "simulation",
    "sweep": "studies",
    "vehicle": "vehicles",
    "view": "studio",
}

__all__ = [
    "CellGrid",
    "LocalMDP",
    "Network",
    "Run",
    "Scenario",
    "Targets",
    "TricoverError",
    "assign_places",
    "build_network",
    "certify",
    "check_aoc",
    "coverage_cost",
    "desired_configuration",
    "goal_points",
    "lloyd",
    "plan_formation",
    "separation",
    "simulate",
    "simulate_parts",
    "steps",
    "sweep",
    "vehicle",
    "view",
]


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'tricover' has no attribute {name!r}")
    value: object = getattr(import_module(f"tricover.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
