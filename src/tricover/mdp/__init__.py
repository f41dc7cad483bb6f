"""The local decision process of a follower: kernels, cost, solvers, and decisions for many agents at once."""

from tricover.mdp.around import Around, moves_around
from tricover.mdp.automatic import Automatic
from tricover.mdp.batch import Solutions, next_moves, solve_many
from tricover.mdp.cost import default_beta, sufficient_beta
from tricover.mdp.estimate import KernelEstimate, estimate
from tricover.mdp.exact import Exact
from tricover.mdp.learned import estimate_records, learned_kernels
from tricover.mdp.modified_policy_iteration import ModifiedPolicyIteration
from tricover.mdp.offsets import HIT, codes_of
from tricover.mdp.policy_iteration import PolicyIteration
from tricover.mdp.problem import Problem
from tricover.mdp.process import SOLVERS, LocalMDP
from tricover.mdp.solution import Solution, Solver
from tricover.mdp.transition import Kernel, deterministic, from_measures, slip
from tricover.mdp.uncertain import KernelBatch, Plans, kernel_batch, plan_moves
from tricover.mdp.value_iteration import ValueIteration

__all__ = [
    "HIT",
    "SOLVERS",
    "Around",
    "Automatic",
    "Exact",
    "Kernel",
    "KernelBatch",
    "KernelEstimate",
    "LocalMDP",
    "ModifiedPolicyIteration",
    "Plans",
    "PolicyIteration",
    "Problem",
    "Solution",
    "Solutions",
    "Solver",
    "ValueIteration",
    "codes_of",
    "default_beta",
    "deterministic",
    "estimate",
    "estimate_records",
    "from_measures",
    "kernel_batch",
    "learned_kernels",
    "moves_around",
    "next_moves",
    "plan_moves",
    "slip",
    "solve_many",
    "sufficient_beta",
]
