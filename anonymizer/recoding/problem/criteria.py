"""What compiled searches require of classes that they look at one by one."""

# Apart from class_scores, which every search imports: kernels.single loads numba.
from anonymizer.errors import InputError
from anonymizer.kernels import NUMPY
from anonymizer.kernels.single import Criteria, criteria
from anonymizer.objectives.candidate import Layout
from anonymizer.privacy import require_class_by_class, require_monotone
from anonymizer.recoding.problem.policy import Policy
from anonymizer.recoding.problem.problem import Problem


def criteria_of(problem: Problem, who: str) -> Criteria:
    """Return the conditions and the worth of a class as compiled searches read them.

    Raises
    ------
    InputError
        When a model or the objective is not made for such a search.
    """
    require_class_by_class(problem.models, f"{who} recoding")
    require_monotone(problem.models, f"{who} recoding")
    objective = problem.objective.prepared(problem.counts, problem.taxonomies)
    layout = Layout.of(problem.counts)
    bound_policy = Policy(problem.models, layout, NUMPY).against(layout.margins)
    for model, _ in bound_policy.measured:
        raise InputError(
            f"{who} recoding checks classes by bounds, and {model.name} states none; give it "
            "bounds(), or choose full-domain recoding"
        )
    return criteria(bound_policy.rules, objective.worth(layout))
