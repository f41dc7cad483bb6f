"""Learning environments, for those who would rather train a policy: the same teams, worlds and steps as ``simulate``.

    parallel_env(scenario)     PettingZoo: the followers act, by name
    VectorTeam(scenarios)      thousands of scenarios as arrays, for a loop of one's own
    vector_env(scenarios)      Gymnasium: every follower of every scenario
    follower_env(scenario, i)  Gymnasium: one follower, all others by our rules
    Baseline(env, goal=…)      our rules as players
    goal_rule, walk_policy     trained policies as rules of a ``Scenario``

It needs the extra ``rl``: pip install 'tricover[rl]'.
"""

from tricover.errors import MissingExtraError

try:
    import gymnasium as _gymnasium
    import pettingzoo as _pettingzoo
except ImportError as error:
    raise MissingExtraError("tricover.rl needs Gymnasium and PettingZoo: pip install 'tricover[rl]'") from error

from tricover.rl.gymnasium_envs import FollowerEnv, FollowersEnv, follower_env, vector_env
from tricover.rl.knowing import STAY
from tricover.rl.observing import PARTS, Observer
from tricover.rl.parallel import TeamEnv, parallel_env
from tricover.rl.policies import OF_GOALS, Baseline, GoalPolicy, WalkPolicy, goal_rule, walk_policy
from tricover.rl.rewards import REWARDS, Moment
from tricover.rl.turn import Turn
from tricover.rl.vector_team import Seen, VectorTeam

del _gymnasium, _pettingzoo

__all__ = [
    "OF_GOALS",
    "PARTS",
    "REWARDS",
    "STAY",
    "Baseline",
    "FollowerEnv",
    "FollowersEnv",
    "GoalPolicy",
    "Moment",
    "Observer",
    "Seen",
    "TeamEnv",
    "Turn",
    "VectorTeam",
    "WalkPolicy",
    "follower_env",
    "goal_rule",
    "parallel_env",
    "vector_env",
    "walk_policy",
]
