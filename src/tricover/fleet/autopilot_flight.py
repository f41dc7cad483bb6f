"""What our autopilot does: modes, arming, the places it goes to, and its failsafes, tick by tick.

A request is carried out, or refused with the reason, in words. Failsafes are PX4's: without setpoints for COM_OF_LOSS_T
seconds it leaves its guided mode and holds; without a word from the ground or an onboard computer for COM_DL_LOSS_T
seconds it returns and lands. It disarms after a landing, and when it was armed and did not take off.

Places are metres east, north and up from home.
"""

from math import dist, isfinite

from tricover.fleet.body import TICK, Body, Goal, advanced, fallen, standing
from tricover.vehicles.flight_modes import PX4, Firmware
from tricover.vehicles.quadrotor import Quadrotor

__all__ = ["PARAMETERS", "Flight"]

PARAMETERS = {
    "COM_DISARM_LAND": 1.0,  # s on the ground after a landing
    "COM_DISARM_PRFLT": 10.0,  # s armed on the ground before a take-off
    "COM_DL_LOSS_T": 10.0,  # s
    "COM_OF_LOSS_T": 0.5,  # s
    "MIS_TAKEOFF_ALT": 2.5,  # m
    "MPC_LAND_SPEED": 0.7,  # m/s
    "MPC_TKO_SPEED": 1.5,  # m/s, of every climb
    "MPC_Z_VEL_MAX_DN": 1.5,  # m/s
    "RTL_RETURN_ALT": 5.0,  # m
}
"""Settings that can be read and set by PX4's names, and their values at the start."""

_LONG_AGO = -1e9  # s
_ARRIVED = 0.2  # m
_BELOW = -1.0  # m: height of a goal that is landed at
_LIFT = 0.05  # m: a goal as high as this is worth a take-off
_FARTHEST = 100_000.0  # m from home
_ON_GROUND, _IN_AIR, _TAKING_OFF, _LANDING = 1, 2, 3, 4  # MAV_LANDED_STATE


class Flight:
    """A quadrotor with its mode, by role, and where it is going; ``healthy``: whether it can be armed."""

    def __init__(self, vehicle: Quadrotor, firmware: Firmware, parameters: dict[str, float]) -> None:
        self.vehicle, self.firmware, self.parameters = vehicle, firmware, parameters
        self.body: Body = standing(vehicle)
        self.role = "hold" if firmware is PX4 else "pilot"
        self.armed, self.healthy = False, True
        self.ticks = 0
        self._legs: list[Goal] = []  # places to go to, one after the other
        self._setpoint_at = self._linked_at = _LONG_AGO
        self._still_since = 0.0
        self._has_flown = False  # since it was armed

    @property
    def time(self) -> float:
        """Seconds since it was switched on."""
        return self.ticks * TICK

    @property
    def landed_state(self) -> int:
        """As EXTENDED_SYS_STATE has it."""
        if not self.body.flies:
            return _ON_GROUND
        return {"take-off": _TAKING_OFF, "land": _LANDING}.get(self.role, _IN_AIR)

    def tick(self) -> list[str]:
        """Let ``TICK`` seconds pass; gives what there is to say of it."""
        self.ticks += 1
        said = self._failsafes() if self.armed else []
        if not self.armed:
            self.body = fallen(self.body, self.vehicle) if self.body.flies else self.body
        elif self.body.flies or (self._legs and self._legs[0][2] >= _LIFT):
            self._move()
        if self.body.flies:
            self._still_since, self._has_flown = self.time, True
        return said + self._disarm_in_time()

    def _failsafes(self) -> list[str]:
        late = self.time - self._setpoint_at > self.parameters["COM_OF_LOSS_T"]
        if self.role == "guided" and self.firmware is PX4 and late:
            self._hold()
            return ["Failsafe: no offboard setpoints, holding"]
        alone = self.time - self._linked_at > self.parameters["COM_DL_LOSS_T"]
        if self.body.flies and alone and self.role not in ("return", "land"):
            self._return()
            return ["Failsafe: data link lost, returning"]
        return []

    def _move(self) -> None:
        goal = self._legs[0] if self._legs else self._here()
        landing, limits = goal[2] < 0, self.parameters
        descent = limits["MPC_LAND_SPEED" if landing else "MPC_Z_VEL_MAX_DN"]
        self.body = advanced(self.body, self.vehicle, goal, limits["MPC_TKO_SPEED"], descent, self.ticks)
        if not self.body.flies:
            self._legs = []
        elif not landing and dist(goal, self.body.place) < _ARRIVED:
            if len(self._legs) > 1:
                self._legs.pop(0)
            elif self.role == "take-off":
                self.role = "hold"

    def _disarm_in_time(self) -> list[str]:
        limit = self.parameters["COM_DISARM_LAND" if self._has_flown else "COM_DISARM_PRFLT"]
        if not self.armed or self.time - self._still_since <= limit:
            return []
        said = "Disarmed by landing" if self._has_flown else "Disarmed: no take-off"
        self.disarm(force=False)
        return [said]

    # Requests: "" if it is done, else why not.

    def arm(self) -> str:
        """Start the rotors."""
        if not self.healthy:
            return "Arming denied: not ready"
        if not self.armed:
            self.armed, self._has_flown, self._still_since = True, False, self.time
        return ""

    def disarm(self, force: bool) -> str:
        """Stop the rotors; in the air only by force, and then it falls."""
        if self.body.flies and not force:
            return "Disarming denied: not landed"
        self.armed, self._legs = False, []
        if self.role in ("take-off", "land", "return"):
            self.role = "hold"
        return ""

    def take_off(self, height: float) -> str:
        """Climb to a height; ArduPilot does it only in its guided mode, and stays in it."""
        if not self.armed:
            return "Take-off denied: not armed"
        if not _LIFT <= height <= _FARTHEST:
            return "Take-off denied: no such height"
        if self.firmware is not PX4 and self.role != "guided":
            return "Take-off denied: not in GUIDED mode"
        x, y, _ = self._here()
        self._legs = [(x, y, height)]
        if self.firmware is PX4:
            self.role = "take-off"
        return ""

    def set_mode(self, role: str) -> str:
        """Change to the mode of a role."""
        if role == "guided":
            return self._follow()
        if role == "take-off":
            return self.take_off(self.parameters["MIS_TAKEOFF_ALT"])
        if role in ("land", "return") and self.body.flies:
            (self._land if role == "land" else self._return)()
        elif role in ("land", "return"):
            return "Mode denied: on the ground"
        else:
            self._hold()
            self.role = role
        return ""

    def go_to(self, goal: Goal) -> str:
        """Fly to a place and hold there."""
        if not self.body.flies:
            return "Reposition denied: not flying"
        if not _possible(goal):
            return "Reposition denied: no such place"
        self.role, self._legs = "hold" if self.firmware is PX4 else "guided", [goal]
        return ""

    def setpoint(self, goal: Goal) -> str:
        """Take note of a setpoint, and follow it in guided mode; ArduPilot does not take off by it."""
        if not _possible(goal):
            return "Setpoint refused: no such place"
        self._setpoint_at = self.time
        if self.role == "guided" and (self.firmware is PX4 or self.body.flies):
            self._legs = [(goal[0], goal[1], max(goal[2], 0.0))]
        return ""

    def heard_of_ground(self) -> None:
        """Take note that somebody is there: by a heartbeat, or a command."""
        self._linked_at = self.time

    def _follow(self) -> str:
        if self.firmware is PX4 and self.time - self._setpoint_at > self.parameters["COM_OF_LOSS_T"]:
            return "Offboard denied: no setpoints"
        self.role, self._legs = "guided", [self._here()] if self.body.flies else []
        return ""

    def _hold(self) -> None:
        self.role, self._legs = "hold", [self._here()] if self.body.flies else []

    def _land(self) -> None:
        x, y, _ = self._here()
        self.role, self._legs = "land", [(x, y, _BELOW)]

    def _return(self) -> None:
        x, y, z = self._here()
        height = max(z, self.parameters["RTL_RETURN_ALT"])
        self.role, self._legs = "return", [(x, y, height), (0.0, 0.0, height), (0.0, 0.0, _BELOW)]

    def _here(self) -> Goal:
        """Where the point is that the body follows; it comes to rest there, after it has braked."""
        x, y, z = self.body.point.tolist()
        return x, y, max(z, 0.0)


def _possible(goal: Goal) -> bool:
    return all(map(isfinite, goal)) and max(map(abs, goal)) <= _FARTHEST
