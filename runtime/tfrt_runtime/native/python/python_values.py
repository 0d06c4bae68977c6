"""Python objects as payloads, and payloads as Python objects: one table for arguments and results.

What is not ordinary here, `host.values.fitting` and `host.payload` fit in Python, or say why it does not fit.
"""

from __future__ import annotations

import math

from tfrt_runtime.native import layouts as at
from tfrt_runtime.native import python_layouts as py
from tfrt_runtime.native.memory import (
    Address,
    call1,
    call2,
    call_f64,
    call_for_f64,
    inline,
    load,
    load_f32,
    load_f64,
    load_i32,
    native,
    outline,
    store,
    store_f32,
    store_f64,
)
from tfrt_runtime.native.python.python_entries import type_of, word_attribute

TOO_LARGE = 2.0**128 - 2.0**103
"""The least number that an `f32` rounds to infinity."""


@native
def put(api: Address, place: Address, item: Address) -> bool:
    """Write the payload of an object after its type, which is at `place`; False if it is no ordinary value of that type.

    The two words after the type are 0 before.  A payload that is an object is borrowed.
    """
    payload_type = load(place)
    type_object = type_of(api, item)
    if payload_type >= at.TYPE_I8 and payload_type <= at.TYPE_I64:
        if type_object != load(api + py.PYTHON_INT):
            return False
        number = call2(load(api + py.PYTHON_READ_INT), item, place + 16)
        shift = 64 - (8 << (payload_type - at.TYPE_I8))
        if load_i32(place + 16) != 0 or (number << shift) >> shift != number:
            return False
        store(place + 16, 0)
        store(place + 8, number)
        return True
    if payload_type == at.TYPE_F64 or payload_type == at.TYPE_F32:
        if type_object != load(api + py.PYTHON_FLOAT):
            return False
        number_f64 = call_for_f64(load(api + py.PYTHON_READ_FLOAT), item)
        if payload_type == at.TYPE_F64:
            store_f64(place + 8, number_f64)
        elif is_too_large(number_f64):
            return False
        else:
            store_f32(place + 8, number_f64)
        return True
    if payload_type == at.TYPE_I1:
        if type_object != load(api + py.PYTHON_BOOL):
            return False
        store(place + 8, call1(load(api + py.PYTHON_READ_WORD), item))
        return True
    if payload_type == at.TYPE_OBJECT:
        if type_object != load(api + py.PYTHON_STR):
            return False
        store(place + 8, item)
        return True
    if payload_type == at.TYPE_TENSOR:
        return put_tensor(api, place, item)
    is_chain = item == load(api + py.PYTHON_CHAIN) or item == load(api + py.PYTHON_NONE)
    return payload_type == at.TYPE_CHAIN and is_chain


@native
def put_tensor(api: Address, place: Address, item: Address) -> bool:
    """As `put`; False for what is no tensor, or one that no native kernel has had."""
    if not is_one_of(api, item, py.PYTHON_TENSOR):
        return False
    handle = call2(load(api + py.PYTHON_GET), item, load(api + py.PYTHON_NAME_HANDLE))
    tensor = 0
    if handle != 0:  # None has no address
        tensor = word_attribute(api, handle, load(api + py.PYTHON_NAME_ADDRESS))
        call1(load(api + py.PYTHON_DROP), handle)
    store(place + 8, tensor)
    call1(load(api + py.PYTHON_CLEAR), 0)
    return tensor != 0


@native
def python_object(api: Address, value: Address, payload_type: int) -> Address:
    """The payload of a value as a new reference to a Python object; 0 with an exception."""
    payload = value + at.VALUE_PAYLOAD
    if payload_type == at.TYPE_OBJECT:
        call1(load(api + py.PYTHON_ADD), load(payload))
        return load(payload)
    if payload_type == at.TYPE_CHAIN:
        call1(load(api + py.PYTHON_ADD), load(api + py.PYTHON_CHAIN))
        return load(api + py.PYTHON_CHAIN)
    if payload_type > at.TYPE_I64 and payload_type != at.TYPE_F32 and payload_type != at.TYPE_F64:
        return read_in_python(api, value)
    if payload_type == at.TYPE_F64:
        return call_f64(load(api + py.PYTHON_MAKE_FLOAT), load_f64(payload))
    if payload_type == at.TYPE_F32:
        return call_f64(load(api + py.PYTHON_MAKE_FLOAT), load_f32(payload))
    if payload_type == at.TYPE_I1:
        return call1(load(api + py.PYTHON_MAKE_BOOL), load(payload) & 1)
    shift = 64 - (8 << (payload_type - at.TYPE_I8))
    return call1(load(api + py.PYTHON_MAKE_INT), (load(payload) << shift) >> shift)


@outline
def read_in_python(api: Address, value: Address) -> Address:
    """The payload of a value as Python makes an object of it."""
    number = call1(load(api + py.PYTHON_MAKE_INT), value)
    if number == 0:
        return 0
    made = call2(load(api + py.PYTHON_CALL_ONE), load(api + py.PYTHON_READ), number)
    call1(load(api + py.PYTHON_DROP), number)
    return made


@native
def is_too_large(number: float) -> bool:
    """Whether a number would be infinite as an `f32`, and is not."""
    return abs(number) >= TOO_LARGE and abs(number) < math.inf


@inline
def is_one_of(api: Address, item: Address, kind: int) -> bool:
    """Whether a Python object is an instance of the class that word `kind` of PROCESS_PYTHON names."""
    type_object = type_of(api, item)
    # The result is an int of 32 bits.
    return call2(load(api + py.PYTHON_IS_SUBTYPE), type_object, load(api + kind)) << 32 != 0
