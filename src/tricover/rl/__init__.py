"""Learning environments: teams for those who would rather train a policy."""

from tricover.rl.parallel import TeamEnv, parallel_env

__all__ = ["TeamEnv", "parallel_env"]
