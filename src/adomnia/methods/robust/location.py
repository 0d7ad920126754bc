"""The median of a column, or other quantiles, by the way of the least expected error that has an interval."""

from fractions import Fraction

from adomnia.methods.contract import INFERENCE, Arguments, BadArgument, Frame, Method, Parameter
from adomnia.methods.describe.quantiles import check_probs
from adomnia.methods.parts.describe.inference import read_inference
from adomnia.methods.parts.robust.ways import SAMPLE_SIZE, SPREAD, WAY, QuantilesByWay


def _build(frame: Frame, arguments: Arguments) -> QuantilesByWay:
    probs, way = arguments["probs"], arguments["method"]
    check_probs(probs)
    if way == "smooth" and len(probs) > 1:
        raise BadArgument("probs", "are several, and the smooth way finds one", "name one, or another method")
    population = read_inference(frame, arguments, "location")
    if way == "brackets" and population and len(probs) > 1:
        fix = "name one, write inference => 'data', or ask the method quantiles"
        raise BadArgument("probs", "are several, and brackets find one quantile of a population", fix)
    asked = (frame.relation, arguments["column"], probs, way, population, frame.confidence)
    return QuantilesByWay(*asked, arguments["sample_size"], arguments["spread"], with_interval=way == "auto")


METHOD = Method(
    "location",
    "robust",
    "The median of a column, or other quantiles, by the way with an interval that has the least expected error.",
    (
        Parameter("column", "column", "the numbers", required=True),
        Parameter("probs", "numbers", "the shares of rows below each quantile, rising", default=(Fraction(1, 2),)),
        WAY,
        SAMPLE_SIZE,
        SPREAD,
        INFERENCE,
    ),
    _build,
    {"prob": "the share of rows below", "estimate": "the quantile"},
    "SELECT * FROM location(people, column => salary, sample_size => 20000)",
    {"R": "median", "SAS": "PROC UNIVARIATE", "SciPy": "stats.quantile"},
)
