"""The section ``world`` of a scenario: what lies between the agents and the truth."""

from typing import Annotated, Any, Self

import numpy as np
from pydantic import Field, PlainValidator, WithJsonSchema, model_validator

from tricover.errors import InputError, listed, shown
from tricover.simulation.section import Length, Section
from tricover.world import Channel, ImperfectChannel, PerfectChannel, PerfectSensor, RangeSensor, Sensor

__all__ = ["WorldSettings"]

MOST_LATE = 1000  # steps: what was sent in so many is kept
MOST_TOLD = 4096  # points of a summary


def _delay(given: Any) -> Any:
    pair = list(given) if isinstance(given, list | tuple | np.ndarray) else [given, given]
    whole = all(isinstance(step, int | np.integer) and not isinstance(step, bool) for step in pair)
    if len(pair) != 2 or not whole or not 0 <= pair[0] <= pair[1] <= MOST_LATE:
        raise InputError(f"must be whole steps from 0 to {MOST_LATE}, or [least, most], not {shown(given)}")
    return int(pair[0]) if pair[0] == pair[1] else (int(pair[0]), int(pair[1]))


def _summary(given: Any) -> Any:
    if given == "sums" or (isinstance(given, int) and not isinstance(given, bool) and 1 <= given <= MOST_TOLD):
        return given
    raise InputError(f'must be from 1 to {MOST_TOLD} points, or "sums", not {shown(given)}')


_Delay = Annotated[
    Any,
    PlainValidator(_delay),
    WithJsonSchema(
        {"anyOf": [{"type": "integer", "minimum": 0}, {"type": "array", "items": {"type": "integer", "minimum": 0}}]}
    ),
]
_Summary = Annotated[
    Any, PlainValidator(_summary), WithJsonSchema({"anyOf": [{"type": "integer", "minimum": 1}, {"enum": ["sums"]}]})
]


class WorldSettings(Section):
    """What lies between the agents and the truth. What is left out is perfect."""

    delay: _Delay | None = Field(None, description="steps that messages are late: one number, or [least, most]")
    loss: float | None = Field(None, ge=0, lt=1, description="chance that a message is lost")
    burst: float | None = Field(None, ge=1, description="mean length of a row of losses, in messages; else independent")
    radio: Length | None = Field(None, description="metres that a message goes at most")
    relays: bool = Field(True, description="pass messages on through agents in range, a step for each")
    sight: Length | None = Field(None, description="metres that an agent sees")
    noise: float | None = Field(None, ge=0, description="metres by which seen targets seem off: standard deviation")
    missed: float | None = Field(None, ge=0, lt=1, description="chance that an agent does not notice a target")
    summary: _Summary | None = Field(
        None, description='what agents tell their parents of targets: at most so many weighted points, or "sums"'
    )

    @model_validator(mode="after")
    def _possible(self) -> Self:
        if self.burst is not None and not self.loss:
            raise InputError("burst goes with loss: give the chance that a message is lost, too")
        if not self.relays and self.radio is None:
            raise InputError("relays goes with radio: give the range beyond which messages need relays, too")
        self.channel(0)
        idle = [key for key in ("noise", "missed", "summary") if getattr(self, key) is not None]
        if idle and self.sight is None:
            raise InputError(f"{listed(idle)} goes with sight: give the metres that an agent sees, or leave it out")
        late = [key for key in ("delay", "loss", "radio") if getattr(self, key)]
        if late and self.sight is not None:
            raise InputError(
                f"sight does not go with {listed(late)}: what agents tell of targets arrives at once. Leave one out"
            )
        return self

    def channel(self, seed: int) -> Channel:
        """How messages get from agent to agent."""
        if not self.delay and not self.loss and self.radio is None:
            return PerfectChannel()
        least, most = self.delay if isinstance(self.delay, tuple) else (self.delay or 0, self.delay or 0)
        return ImperfectChannel(seed, least, most, self.loss or 0.0, self.burst, self.radio, self.relays)

    def sensor(self, seed: int) -> Sensor:
        """What agents see of targets."""
        if self.sight is None:
            return PerfectSensor()
        return RangeSensor(self.sight, self.noise or 0.0, self.missed or 0.0, seed)
