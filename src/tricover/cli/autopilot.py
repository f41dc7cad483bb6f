"""``tricover autopilot``: a vehicle that speaks MAVLink, to rehearse missions with."""

import signal
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from tricover.cli.console import Quiet, load_kernels, note
from tricover.errors import InputError, shown

if TYPE_CHECKING:
    from tricover.fleet.autopilot_udp import Station
    from tricover.fleet.telemetry import Home

__all__ = ["autopilot"]

_LAST_SYSTEM = 250  # higher ones are for ground stations
_APART = 5.0  # metres between the homes of several, east of each other


class Firmware(StrEnum):
    """Whom it speaks like."""

    px4 = "px4"
    ardupilot = "ardupilot"


def autopilot(
    address: Annotated[
        list[str] | None,
        typer.Option(
            help="udpout:HOST:PORT sends there, udpin:HOST:PORT waits to be spoken to; may be given several times. "
            "Default: udpout:127.0.0.1:14540; QGroundControl listens at udpout:127.0.0.1:14550.",
            show_default=False,
        ),
    ] = None,
    system: Annotated[int, typer.Option(min=1, max=_LAST_SYSTEM, help="Its MAVLink system id.")] = 1,
    count: Annotated[
        int,
        typer.Option(min=1, max=100, help="So many of them, each with the next system id and the next port."),
    ] = 1,
    home: Annotated[
        str, typer.Option(help="Where it stands: longitude, latitude and metres above the sea.")
    ] = "8.545594,47.397742,488",
    firmware: Annotated[Firmware, typer.Option("--as", help="Whom it speaks like.")] = Firmware.px4,
    airframe: Annotated[str, typer.Option(help="crazyflie or hummingbird.")] = "hummingbird",
    max_speed: Annotated[float, typer.Option(help="Metres per second over ground.")] = 5.0,
    wind: Annotated[str, typer.Option(help="Metres per second to the east and to the north.")] = "0,0",
    speed: Annotated[float, typer.Option(help="So many times as fast as real time.")] = 1.0,
    seconds: Annotated[float | None, typer.Option(help="End after so many seconds; else at Ctrl-C.")] = None,
    key: Annotated[str, typer.Option(help="File with a key: only what is signed with it is obeyed.")] = "",
    quiet: Quiet = False,
) -> None:
    """Fly our quadrotor as an autopilot that speaks MAVLink, for QGroundControl, MAVSDK and our own agents.

    It answers as PX4 does, or ArduPilot, and holds, returns and lands when it hears nothing any more. Exit code 0: its
    time is over; 2: bad input; 130: interrupted.

    Example: [bold]tricover autopilot --address udpout:127.0.0.1:14540 --address udpout:127.0.0.1:14550[/bold]
    """
    if not 0.01 <= speed <= 100:
        raise InputError(f"--speed must be from 0.01 to 100, not {speed:g}")
    if system + count - 1 > _LAST_SYSTEM:
        raise InputError(f"{count} from system {system} on are more than there are: ids end at {_LAST_SYSTEM}")
    place, (east, north) = _home(home), _numbers("--wind", wind, 2)
    load_kernels(quiet)
    from tricover.fleet.autopilot import Autopilot
    from tricover.fleet.autopilot_udp import Station, serve, shifted
    from tricover.vehicles.flight_modes import ARDUPILOT, PX4
    from tricover.vehicles.quadrotor import Quadrotor
    from tricover.vehicles.wire import read_key

    vehicle = Quadrotor(airframe=airframe, max_speed=max_speed, wind=(east, north))
    spoken, secret = PX4 if firmware is Firmware.px4 else ARDUPILOT, read_key(key)
    stations: list[Station] = []
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)  # it ends as at Ctrl-C
    try:
        for number in range(count):
            addresses = [shifted(one, number) for one in address or ["udpout:127.0.0.1:14540"]]
            one = Autopilot(system + number, spoken, place.moved(number * _APART), vehicle)
            stations.append(Station(one, addresses, secret))
            if not quiet:
                note(f"{spoken.name} autopilot, system {system + number}, at {', '.join(addresses)}")
        tell = None if quiet else lambda: _tell(stations)
        serve(stations, speed, lambda passed: seconds is None or passed < seconds, tell)
    finally:
        signal.signal(signal.SIGTERM, before)
        for station in stations:
            station.close()


def _numbers(option: str, given: str, *counts: int) -> list[float]:
    try:
        numbers = [float(part) for part in given.split(",")]
    except ValueError:
        numbers = []
    if len(numbers) not in counts:
        raise InputError(
            f"{option} takes {' or '.join(map(str, counts))} numbers with a comma between, not {shown(given)}"
        )
    return numbers


def _home(given: str) -> "Home":
    from tricover.fleet.telemetry import Home

    longitude, latitude, *height = _numbers("--home", given, 2, 3)
    return Home(longitude, latitude, *height)


def _tell(stations: "list[Station]") -> None:
    """How it goes, a line for each."""
    for station in stations:
        flight, system = station.autopilot.flight, station.autopilot.system
        mode = flight.firmware.mode_name(flight.firmware.mode(flight.role))
        x, y, z = flight.body.place
        note(f"system {system}: {mode}, {'armed' if flight.armed else 'disarmed'}, at ({x:.1f}, {y:.1f}, {z:.1f}) m")
