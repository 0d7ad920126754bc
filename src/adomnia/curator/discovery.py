"""Finding the values of keys that nobody declared: the one place that sees them before they are named."""

from adomnia.engines.contract import Engine, Statement
from adomnia.mechanisms.secret import Secret
from adomnia.noise import Bits
from adomnia.plans.undeclared import KeyDiscovery, Values


def discover_keys(engine: Engine, statement: Statement, finding: KeyDiscovery, bits: Bits) -> tuple[Values, ...]:
    """The values that enough people have. How many others there are, and which, is never known outside."""
    people, find_labels = engine.keys(statement, finding.query)
    secret = Secret(people, finding.query.sensitivity(), finding.price)
    named, noisy = finding.threshold.release(secret, bits)
    return finding.choose(find_labels(named), noisy)
