"""All functions by name. Adding one is adding a row to the table of its theme."""

from adomnia.privacy.functions.arithmetic import ARITHMETIC
from adomnia.privacy.functions.casts import CASTS
from adomnia.privacy.functions.contract import Function
from adomnia.privacy.functions.days import DAYS
from adomnia.privacy.functions.logic import LOGIC
from adomnia.privacy.functions.texts import TEXTS
from adomnia.privacy.functions.times import TIMES

FUNCTIONS: dict[str, Function] = {
    function.name: function for function in (*ARITHMETIC, *LOGIC, *TEXTS, *DAYS, *TIMES, *CASTS)
}
