"""CoverageControl's simulator and controllers, through its compiled module alone: the package itself wants PyTorch."""

import importlib.util
import time
from importlib.metadata import files
from types import ModuleType

import numpy as np


def _core() -> ModuleType:
    (path,) = [file for file in files("coverage-control") if file.name.startswith("_core.")]
    spec = importlib.util.spec_from_file_location("_core", str(path.locate()))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


core = _core()


class World:
    """One world and its controller, by CoverageControl's own default parameters unless they are given here."""

    def __init__(self, controller: str, side: int, robots: np.ndarray, centres: np.ndarray, sigmas: np.ndarray) -> None:
        self.settings = core.Parameters()
        self.settings.pNumRobots = len(robots)
        self.settings.pWorldMapSize = self.settings.pRobotMapSize = side
        density = core.WorldIDF(self.settings)
        for centre, sigma in zip(centres, sigmas, strict=True):
            density.AddNormalDistribution(core.BivariateNormalDistribution(centre, float(sigma), 8.0))
        density.GenerateMapCPU()
        starts = core.PointVector()
        for robot in robots:
            starts.append(robot)
        self.system = core.CoverageSystem(self.settings, density, starts)
        self.controller = getattr(core, controller)(self.settings, self.system)

    def step(self) -> float:
        start = time.perf_counter()
        self.controller.ComputeActions()
        self.system.StepActions(self.controller.GetActions())
        return time.perf_counter() - start


_worlds: list[World] = []


def prepare(controller: str, side: int, robots: str, centres: str, sigmas: str, into: str) -> None:
    """Make a world; its map, which pixel has which importance, is saved ``into`` a file."""
    _worlds[:] = [World(controller, side, np.load(robots), np.load(centres), np.load(sigmas))]
    np.save(into, _worlds[0].system.GetWorldMap())


def cost(controller: str, side: int, robots: str, centres: str, sigmas: str, steps: int, into: str) -> float:
    """The peer's cost after so many steps of a controller, or as long as it falls; 0 steps: of these positions."""
    world = World(controller, side, np.load(robots), np.load(centres), np.load(sigmas))
    last = world.system.GetObjectiveValue()
    for taken in range(1, steps + 1):
        world.step()
        if taken % 20 == 0:
            now = world.system.GetObjectiveValue()
            if abs(last - now) < 1e-6 * last:
                break
            last = now
    np.save(into, world.system.GetWorldMap())
    return world.system.GetObjectiveValue()


def step() -> float:
    """Seconds in which all robots decide, move and sense once; all cores."""
    return _worlds[0].step()
