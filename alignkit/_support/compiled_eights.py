"""What numba makes of the functions of `eights`: values that are vectors of eight floats.

Importing this module is enough; `compiling` does so before the first kernel is compiled.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba.core import types
from numba.extending import lower_builtin, models, register_model, type_callable
from numba.np.arrayobj import make_array

from alignkit._support.eights import (
    EIGHT,
    load_eight,
    repeat_eight,
    spread_eight,
    store_eight,
    sum_of_eight,
)

_VECTOR = ir.VectorType(ir.FloatType(), EIGHT)
_NUMBER = ir.IntType(32)
_BYTES = 4  # arrays of floats begin at multiples of four bytes, not of a whole vector


class EightType(types.Type):
    """The type of eight floats."""

    def __init__(self) -> None:
        super().__init__(name="eight float32")


class _EightModel(models.PrimitiveModel):
    """How LLVM holds eight floats: in a vector."""

    def __init__(self, manager: Any, kind: EightType) -> None:
        super().__init__(manager, kind, _VECTOR)  # type: ignore[no-untyped-call]


_EIGHT_FLOATS = EightType()


# types: what each function takes, and what it returns
def _is_floats(kind: Any) -> bool:
    """Return whether a type is that of an array (n,) of float32, one beside the other."""
    is_row = isinstance(kind, types.Array) and kind.ndim == 1 and kind.layout == "C"
    return is_row and kind.dtype == types.float32 and kind.aligned


def _type_of_load(_context: Any) -> Callable[..., Any]:
    def typer(array: Any, at: Any) -> Any:
        if _is_floats(array) and isinstance(at, types.Integer):
            return _EIGHT_FLOATS
        return None

    return typer


def _type_of_store(_context: Any) -> Callable[..., Any]:
    def typer(array: Any, at: Any, eight: Any) -> Any:
        is_place = _is_floats(array) and array.mutable and isinstance(at, types.Integer)
        if is_place and eight == _EIGHT_FLOATS:
            return types.void
        return None

    return typer


def _type_of_spread(_context: Any) -> Callable[..., Any]:
    def typer(value: Any) -> Any:
        return _EIGHT_FLOATS if value == types.float32 else None

    return typer


def _type_of_sum(_context: Any) -> Callable[..., Any]:
    def typer(eight: Any) -> Any:
        return types.float32 if eight == _EIGHT_FLOATS else None

    return typer


def _type_of_operation(_context: Any) -> Callable[..., Any]:
    """Return what types x + y, x - y and x * y, of which one may be a float."""

    def typer(x: Any, y: Any) -> Any:
        kinds = {x, y}
        if _EIGHT_FLOATS in kinds and kinds <= {_EIGHT_FLOATS, types.float32}:
            return _EIGHT_FLOATS
        return None

    return typer


# instructions
def _make_load(context: Any, builder: ir.IRBuilder, signature: Any, given: Any) -> ir.Value:
    array, at = given
    address = _address(context, builder, signature.args[0], array, at)
    return builder.load(address, align=_BYTES)


def _make_store(context: Any, builder: ir.IRBuilder, signature: Any, given: Any) -> ir.Value:
    array, at, eight = given
    address = _address(context, builder, signature.args[0], array, at)
    builder.store(eight, address, align=_BYTES)
    return context.get_dummy_value()


def _make_repeat(context: Any, builder: ir.IRBuilder, signature: Any, given: Any) -> ir.Value:
    array, at = given
    value = builder.load(_place(context, builder, signature.args[0], array, at))
    return _spread_value(builder, value)


def _address(context: Any, builder: ir.IRBuilder, kind: Any, array: Any, at: Any) -> ir.Value:
    """Return the address of the eight floats of an array from `at` on."""
    first = _place(context, builder, kind, array, at)
    return builder.bitcast(first, _VECTOR.as_pointer())


def _place(context: Any, builder: ir.IRBuilder, kind: Any, array: Any, at: Any) -> ir.Value:
    """Return the address of the float of an array at a place."""
    data = make_array(kind)(context, builder, array).data
    return builder.gep(data, [at], inbounds=True)


def _make_spread(_context: Any, builder: ir.IRBuilder, _signature: Any, given: Any) -> ir.Value:
    return _spread_value(builder, given[0])


def _spread_value(builder: ir.IRBuilder, value: ir.Value) -> ir.Value:
    """Return a vector of eight times the same value."""
    first = builder.insert_element(ir.Constant(_VECTOR, ir.Undefined), value, _NUMBER(0))
    return _chosen(builder, first, [0] * EIGHT)


def _chosen(builder: ir.IRBuilder, vector: ir.Value, places: list[int]) -> ir.Value:
    """Return a vector of the elements of a vector at these places."""
    nothing = ir.Constant(vector.type, ir.Undefined)
    return builder.shuffle_vector(
        vector, nothing, ir.Constant(ir.VectorType(_NUMBER, len(places)), places)
    )


def _make_sum(_context: Any, builder: ir.IRBuilder, _signature: Any, given: Any) -> ir.Value:
    halves = _chosen(builder, given[0], [0, 1, 2, 3]), _chosen(builder, given[0], [4, 5, 6, 7])
    four = builder.fadd(*halves)
    two = builder.fadd(_chosen(builder, four, [0, 1]), _chosen(builder, four, [2, 3]))
    first = builder.extract_element(two, _NUMBER(0))
    second = builder.extract_element(two, _NUMBER(1))
    return builder.fadd(first, second)


def _operation(instruction: str) -> Callable[..., ir.Value]:
    """Return what makes an instruction on two vectors; a float is spread before."""

    def make(_context: Any, builder: ir.IRBuilder, signature: Any, given: Any) -> ir.Value:
        vectors = []
        for kind, value in zip(signature.args, given, strict=True):
            is_vector = kind == _EIGHT_FLOATS
            vectors.append(value if is_vector else _spread_value(builder, value))
        return getattr(builder, instruction)(*vectors)

    return make


_OPERATIONS = {
    operator.add: "fadd",
    operator.iadd: "fadd",
    operator.sub: "fsub",
    operator.isub: "fsub",
    operator.mul: "fmul",
    operator.imul: "fmul",
}


# what numba is told
register_model(EightType)(_EightModel)

type_callable(load_eight)(_type_of_load)
type_callable(repeat_eight)(_type_of_load)
type_callable(store_eight)(_type_of_store)
type_callable(spread_eight)(_type_of_spread)
type_callable(sum_of_eight)(_type_of_sum)

lower_builtin(load_eight, types.Array, types.Integer)(_make_load)
lower_builtin(repeat_eight, types.Array, types.Integer)(_make_repeat)
lower_builtin(store_eight, types.Array, types.Integer, EightType)(_make_store)
lower_builtin(spread_eight, types.Float)(_make_spread)
lower_builtin(sum_of_eight, EightType)(_make_sum)

for _operator, _instruction in _OPERATIONS.items():
    type_callable(_operator)(_type_of_operation)
    _make = _operation(_instruction)
    lower_builtin(_operator, EightType, EightType)(_make)
    lower_builtin(_operator, EightType, types.Float)(_make)
    lower_builtin(_operator, types.Float, EightType)(_make)
