"""Changes one function of a module that is imported already, where that is the same as importing the changed module."""

from __future__ import annotations

import sys
from inspect import CO_OPTIMIZED
from types import CodeType, FunctionType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

# Where `staticmethod`, `property`, `cached_property` and what wraps a function keep it.
_WRAPPERS = ("__wrapped__", "__func__", "fget", "func")
_CALLED: set[tuple[str, int]] = set()


def note_call(frame: FrameType, event: str, _: object) -> None:
    """What `sys.setprofile` takes."""
    if event == "call":
        _CALLED.add((frame.f_code.co_filename, frame.f_code.co_firstlineno))


def is_called(code: CodeType) -> bool:
    return (code.co_filename, code.co_firstlineno) in _CALLED


def find_swap(module_name: str, text: str, planted: str) -> tuple[FunctionType, CodeType] | None:
    """The function in which alone a planted text is another, and its code there; None unless a swap is an import.

    It is one if the function was never called: importing the changed module would run the same, and no value or cache
    can come from the function as it was.
    """
    module = sys.modules.get(module_name)
    if module is None:
        return None
    path = str(module.__file__)
    before, after = (compile(each, path, "exec", dont_inherit=True) for each in (text, planted))
    match list(_differences(before, after)):
        case [(old, new)] if old.co_freevars == new.co_freevars and not is_called(old):
            function = _find_function(module, old)
            return function and (function, new)
    return None


def _differences(before: CodeType, after: CodeType) -> Iterator[tuple[CodeType, CodeType]]:
    """The outermost functions that differ, or the body of the class or module around them."""
    if not _is_body(before) or _outline(before) != _outline(after):
        yield before, after
        return
    for old, new in zip(_parts(before), _parts(after), strict=True):
        if _without_lines(old) != _without_lines(new):
            yield from _differences(old, new)


def _is_body(code: CodeType) -> bool:
    """Whether it is the body of a module or of a class: those run once, when they are imported."""
    return not code.co_flags & CO_OPTIMIZED


def _parts(code: CodeType) -> list[CodeType]:
    return [each for each in code.co_consts if isinstance(each, CodeType)]


def _outline(code: CodeType) -> CodeType:
    constants = tuple(each.co_name if isinstance(each, CodeType) else each for each in code.co_consts)
    return code.replace(co_firstlineno=1, co_linetable=b"", co_consts=constants)


def _without_lines(code: CodeType) -> CodeType:
    constants = tuple(_without_lines(each) if isinstance(each, CodeType) else each for each in code.co_consts)
    return code.replace(co_firstlineno=1, co_linetable=b"", co_consts=constants)


def _find_function(module: object, code: CodeType) -> FunctionType | None:
    """The function of that name, if it begins in that line: others may have the same name."""
    found = module
    for name in code.co_qualname.split("."):
        found = vars(found).get(name) if hasattr(found, "__dict__") else None
    while found is not None:
        own = found.__code__ if isinstance(found, FunctionType) else None
        if own and (own.co_name, own.co_firstlineno) == (code.co_name, code.co_firstlineno):
            return found
        found = next((getattr(found, name) for name in _WRAPPERS if hasattr(found, name)), None)
    return None
