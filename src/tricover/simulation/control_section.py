"""The section ``control`` of a scenario: what every agent is told before the start."""

from typing import Annotated, Any, Literal, Self

from pydantic import Field, PlainValidator, WithJsonSchema, model_validator

from tricover.errors import InputError, shown
from tricover.formats.points import LARGEST
from tricover.goals.rules import RULES, TEAM_RULES
from tricover.own import is_name
from tricover.simulation.section import Length, Section

__all__ = ["Control", "by_name_or_function"]

GOALS = (*RULES, *TEAM_RULES)
KERNELS = ("certain", "learned")
POLISHES = ("voronoi", "descent")
MOST_POLISH = 10**6


def by_name_or_function(names: tuple[str, ...]) -> Any:
    """One of the names, or a function of the user's own, itself or by its name."""

    def check(given: Any) -> Any:
        if callable(given) or is_name(given) or given in names:
            return given
        known = "".join(f"{name!r}, " for name in names)
        raise InputError(f"must be {known}'module:function', or a function in Python, not {shown(given)}")

    own = {"type": "string", "pattern": "^[\\w.]+:[\\w.]+$"}
    schema = {"anyOf": [{"enum": list(names)}, own]} if names else own
    return Annotated[Any, PlainValidator(check), WithJsonSchema(schema)]


def _kernel(given: Any) -> str | dict[str, float]:
    if given in KERNELS:
        return str(given)
    chance = given.get("slip") if isinstance(given, dict) and given.keys() == {"slip"} else None
    if not isinstance(chance, int | float) or isinstance(chance, bool) or not 0 <= chance < 1:
        raise InputError(f"must be 'certain', 'learned' or {{ slip = chance from 0 to below 1 }}, not {shown(given)}")
    return {"slip": float(chance)}


_Kernel = Annotated[
    Any,
    PlainValidator(_kernel),
    WithJsonSchema(
        {
            "anyOf": [
                {"enum": list(KERNELS)},
                {
                    "type": "object",
                    "properties": {"slip": {"type": "number", "minimum": 0, "exclusiveMaximum": 1}},
                    "required": ["slip"],
                    "additionalProperties": False,
                },
            ]
        }
    ),
]


def _polish(given: Any) -> dict[str, int]:
    full = given if isinstance(given, dict) else {"voronoi": given}
    (rule, steps), *more = full.items() or [("", 0)]
    if more or rule not in POLISHES or type(steps) is not int or not 0 <= steps <= MOST_POLISH:
        raise InputError(
            f"must be a whole number of steps up to {MOST_POLISH}, {{ voronoi = steps }} or {{ descent = steps }}, "
            f"not {shown(given)}"
        )
    return {rule: steps}


def _replan(given: Any) -> int | str | dict[str, float]:
    if given == "never" or (type(given) is int and 1 <= given <= 2**53):
        return given  # type: ignore[no-any-return]
    limits = {"cost": (1.0, LARGEST), "share": (0.0, 1.0)}
    known = isinstance(given, dict) and given and given.keys() <= limits.keys()
    numbers = known and all(isinstance(value, int | float) and type(value) is not bool for value in given.values())
    if not numbers or not all(limits[key][0] < value <= limits[key][1] for key, value in given.items()):
        raise InputError(
            'must be "never", a whole number of steps, or { cost = ratio above 1, share = of the followers, up to 1 }, '
            f"not {shown(given)}"
        )
    return {key: float(value) for key, value in given.items()}


_Polish = Annotated[
    Any,
    PlainValidator(_polish),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "integer", "minimum": 0},
                *(
                    {"type": "object", "properties": {rule: {"type": "integer"}}, "required": [rule]}
                    for rule in POLISHES
                ),
            ]
        }
    ),
]
_Replan = Annotated[
    Any,
    PlainValidator(_replan),
    WithJsonSchema(
        {
            "anyOf": [
                {"enum": ["never"]},
                {"type": "integer", "minimum": 1},
                {"type": "object", "properties": {"cost": {"type": "number"}, "share": {"type": "number"}}},
            ]
        }
    ),
]


class Control(Section):
    """What every follower is told before the start."""

    motion: Literal["reach", "walk", "morph"] = Field(
        "reach", description="to the goal point in one step, cell by cell, or nested at every step so that nobody meets"
    )
    goal: by_name_or_function(GOALS) = Field("centroid", description="goal rule")  # type: ignore[valid-type]
    resolution: int = Field(35, ge=1, le=4096, description="cells per side of a triangle, M")
    alpha: float = Field(1.0, gt=0, description="cost per metre to the goal")
    beta: float | None = Field(None, gt=0, description="reward at the goal; scaled to the triangle if left out")
    gamma: float = Field(0.95, gt=0, lt=1, description="discount factor")
    margin: float = Field(0.05, ge=0, lt=1 / 3, description="η: barycentric distance of reach sets from the edges")
    tolerance: float | None = Field(None, ge=0, description="metres within which an agent counts as at its goal point")
    speed: Length | None = Field(None, description="metres per step that nobody exceeds, for morph and from the pads")
    kernel: _Kernel = Field(
        "certain",
        description="how moves end, for walk: certain, { slip = chance }, or learned by each agent alone",
    )
    window: int = Field(1000, ge=50, le=10**6, description="moves that an agent learns from: its last ones")
    policy: by_name_or_function(()) | None = Field(  # type: ignore[valid-type]
        None, description="who chooses the next cells, for walk: module:function; the optimal policy if left out"
    )

    polish: _Polish | None = Field(
        None,
        description="steps of Lloyd in the triangle once the team is at its goals, or { descent = steps }; "
        "by default 3 to 20 after a cell plan, by the size of the team, and none after other goals",
    )
    range: Length | None = Field(
        None, description="metres within which agents hear of others near by, to polish; as far as it takes if left out"
    )
    replan: _Replan = Field(
        {"cost": 1.25, "share": 0.1},
        description="cellplan: plan anew where coverage is worse by the ratio cost, or where a share of the followers "
        "belongs into other first cells; or every so many steps, or never",
    )

    @model_validator(mode="after")
    def _goes_together(self) -> Self:
        rules = {self.goal if isinstance(self.goal, str) else "", *(self.polish or {})}
        if "cellplan" in rules and self.motion == "morph":
            raise InputError(
                'goal "cellplan" makes a new network, in which the team is not nested: '
                'take motion = "reach" or "walk", or another goal with polish = { descent = 60 }'
            )
        if "descent" in rules and self.motion != "morph":
            raise InputError(
                '"descent" moves a layer while all below are carried along: take motion = "morph", or "voronoi" instead'
            )
        if self.polish and self.goal in POLISHES:
            raise InputError(f"the goal {self.goal!r} needs no polish: leave it out")
        return self

    @model_validator(mode="after")
    def _walks(self) -> Self:
        if self.kernel != "certain" and self.motion != "walk":
            raise InputError('kernel goes with motion = "walk": in others agents do not decide by cells')
        if self.policy is not None and (self.kernel != "certain" or self.motion != "walk"):
            raise InputError('policy goes with motion = "walk" and kernel = "certain": it plans by itself')
        return self
