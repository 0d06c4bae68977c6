"""One line of documentation for each family of kernels that is not documented elsewhere.

A family is a name without its types: `tfrt.add` covers `tfrt.add.i32`, `tfrt.add.f64`, and so on.
Scalar operations and other native kernels have their lines in their own tables. Python kernels have
docstrings, and control flow operations have classes with docstrings.
"""

import re

from tfrt_runtime.native_table import ROWS
from tfrt_runtime.scalars import OPERATIONS

FAMILIES = {
    "tfrt.constant": "A constant.",
    "tfrt.print": "Print the number with its type once the chain is available; "
    "the result is a chain for the next effect.",
    "tfrt.repeat": "Runs its region a given number of times, passing loop values "
    "from one iteration to the next.  An iteration starts when all values of the previous one "
    "are resolved.",
    "demo.wait": (
        "The operand after a delay in seconds, or a chain if there is no operand.  A timer "
        "waits, so no thread is blocked."
    ),
    "tfrt_test.get_string_sync": "The string of an attribute.",
    "tfrt_test.invoke_sync_function": "The results of a sync function for these operands.",
    "tfrt_test.sync.const_dense_attr": "A copy of the elements of an attribute.",
    "tfrt_test.get_static_tensor_type": "The kind of tensor with the given name.",
    "tfrt_test.matmul": (
        "Write alpha times the matrix product of two tensors, plus beta times the third tensor, "
        "into the third."
    ),
    "tfrt_test.relu": "Write the elements of the first tensor into the second, with "
    "zero for negative ones.",
    "tfrt_test.relu_inplace": "Make negative elements zero.",
    "tfrt_test.add": "Write the sums of the elements of two tensors into the third.",
    "tfrt_test.add_inplace": "Add the elements of the first tensor to those of the second.",
    "tfrt_test.equal": "Write whether the elements of the first two tensors are "
    "equal into the third.",
    "tfrt_test.equal_inplace": "Write whether the elements of two tensors are equal into the "
    "second.",
    "tfrt_test.broadcast": "The tensor, repeated to fill the shape.",
    "tfrt_test.argmax": "The position of the largest element in each row.",
    "tfrt_test.reduce_mean": "The mean over the first axis.",
    "tfrt_test.slice_inplace": "Write the part of the first tensor that starts at an index "
    "into the last tensor.",
    "tfrt_test.cast": "The tensor, converted to another element type.",
    "tfrt_dht.create_uninitialized_tensor": (
        "A dense tensor of the given shape, whose elements are 0."
    ),
    "tfrt_dht.fill_tensor_with_constant": "Set all elements of the tensor to one number.",
    "tfrt_dht.set_tensor_with_constant_values": "Set the elements to constants.",
    "tfrt_dht.set_tensor_with_values": "Set the elements to the operands.",
    "tfrt_dht.make_tensor": "A tensor of the given shape that uses a buffer's memory.",
    "tfrt_dht.tensor_equal": "Whether two tensors have the same shape and elements.",
    "tfrt_dht.tensor_allclose": "Whether two tensors have the same shape and nearly the same "
    "elements.",
    "tfrt_dht_sync.create_uninitialized_tensor": (
        "A dense tensor of the given shape, whose elements are 0."
    ),
    "tfrt_dht_sync.fill_tensor_with_constant": "Set all elements of the tensor to one number.",
    "tfrt_dht_sync.print_tensor": "Print a tensor of any kind.",
    "tfrt_dht_sync.set_tensor_with_constant_values": "Set the elements to constants.",
    "tfrt_dht_sync.tensor_equal": "Whether two tensors have the same shape and elements.",
    "coo.convert_dht_to_coo": "The tensor in sparse form: only nonzero elements are kept.",
    "coo.convert_coo_to_dht": "The dense tensor with the elements of a sparse one.",
    "coo.tensor_equal": "Whether two sparse tensors have the same shape and elements.",
    "btf.read_dense_tensor": "Tensor number N of a file of tensors.",
    "btf.read_coo_tensor": "Tensor number N of a file of tensors, which is sparse.",
    "ts.as_fixed_rank_shape": "The shape, if it has that many dimensions.",
    "ts.print_fixed_rank_shape": "Print the sizes of a shape of that rank.",
    "arith.constant": "A constant number or array.",
    "func.func": "A function.",
    "func.return": "Ends a compiled function and returns its results.",
    "func.call": "Calls a compiled function and waits for it to return.",
    "memref.load": "An element of a buffer.",
    "memref.store": "Writes an element of a buffer.",
    "builtin.module": "A program, or a part of one: its functions.",
    "builtin.unrealized_conversion_cast": "The value as another type, in the middle of a lowering.",
    "memref.alloc": "A new buffer with undefined elements.",
    "memref.alloca": "A new buffer that lasts as long as the call of the function.",
    "memref.dealloc": "Frees a buffer from memref.alloc; the buffer must not be used afterward.",
    "memref.dim": "The size of a buffer in one dimension.",
    "memref.get_global": "The buffer of a memref.global.",
    "memref.subview": "A view of part of a buffer, given by offsets, sizes, and strides.  The "
    "view shares the buffer's elements.",
    "memref.dma_start": "Starts to copy elements from one buffer to another.",
    "memref.dma_wait": "Waits until the copy of a memref.dma_start is complete.",
    "linalg.reduce": "Combines the elements along some dimensions.",
    "linalg.conv_2d": "A convolution in two dimensions.  The letters in the name give the order "
    "of the dimensions.",
    "func.call_indirect": "Calls a function value.",
    "func.constant": "A function as a value.",
    "memref.atomic_rmw": "Atomically combines an element of a buffer with a number; "
    "the result is the old element.",
    "memref.generic_atomic_rmw": "Atomically replaces an element of a buffer with the value "
    "that the region computes from it; the region may run several times.",
    "memref.atomic_yield": "Ends the region of memref.generic_atomic_rmw.",
    "memref.cast": "The same buffer, with a type that states more or fewer of its sizes.",
    "memref.copy": "Copies the elements of one buffer into another.",
    "memref.extract_aligned_pointer_as_index": "The address of a buffer's elements.",
    "memref.extract_strided_metadata": "The base of a buffer, its offset, sizes and strides.",
    "memref.global": "A buffer of the module that all runs share; memref.get_global returns it.",
    "memref.memory_space_cast": "The same buffer, as a type of another memory space.",
    "memref.rank": "The number of dimensions of a buffer.",
    "linalg.copy": "Copies the elements of one buffer into another.",
    "linalg.fill": "Sets all elements of a buffer.",
    "linalg.generic": "Runs its region for each element that the maps select, and "
    "writes the yielded values to the outs.",
    "linalg.yield": "Ends the region of linalg.generic.",
    "scf.execute_region": "Runs its region, which may have several blocks, once.",
    "scf.for": (
        "Runs its region for each number from the lower bound up to, but not including, the "
        "upper bound; iter_args are passed from one iteration to the next.  The upper bound plus "
        "the step must fit in the type: otherwise, the index wraps around and the loop continues."
    ),
    "scf.if": (
        "Runs the first region if the condition is true, and otherwise the second; the results "
        "are the yielded values."
    ),
    "scf.index_switch": "Runs the region of the matching case, or the default region.",
    "scf.parallel": (
        "Runs its region for each combination of numbers, in any order; with --parallel-for, "
        "tasks share the iterations, as they always do for async.parallel_for."
    ),
    "scf.reduce": (
        "Ends the region of scf.parallel.  Each of its own regions combines two values into one."
    ),
    "scf.while": "Runs the first region, then the second, while the condition of the first holds.",
    "cf.assert": "Fails with the message, unless the condition is true.",
    "cf.br": "Branches to another block, which gets the operands.",
    "cf.cond_br": "Branches to the first block if the condition is true, otherwise to the second.",
    "cf.switch": "Branches to the block of the matching case, or to the default block.",
    "arith.cmpi": "Compares two whole numbers: eq, ne; signed: slt, sle, sgt, "
    "sge; unsigned: ult, ule, ugt, uge.",
    "arith.cmpf": "Compares two floats: oeq, one, olt, ole, ogt, oge are false "
    "if either is NaN, and ueq, une, ult, ule, ugt, uge are true; ord and uno test for NaN.",
    "arith.select": "The second operand if the first is true, else the third.",
    "math.absf": "The number without its sign.",
    "math.absi": "The number without its sign.  The least number stays negative.",
    "math.atan": "The angle with this tangent, in radians.",
    "math.atan2": "The angle of the point (second, first), in radians.",
    "math.cbrt": "The cube root.",
    "math.ceil": "The number rounded up.",
    "math.cos": "The cosine of an angle in radians.",
    "math.cosh": "The hyperbolic cosine.",
    "math.ctlz": "The number of leading zero bits.",
    "math.ctpop": "The number of bits that are 1.",
    "math.cttz": "The number of trailing zero bits.",
    "math.erf": "The error function.",
    "math.exp": "e to the power of the number.",
    "math.exp2": "2 to the power of the number.",
    "math.expm1": "e to the power of the number, less 1; exact near 0.",
    "math.floor": "The number rounded down.",
    "math.fma": "The product of the first two operands plus the third, rounded only once.",
    "math.fpowi": "A float to the power of a whole number.",
    "math.ipowi": "A whole number to the power of another one.",
    "math.log": "The natural logarithm.",
    "math.log10": "The logarithm to base 10.",
    "math.log1p": "The natural logarithm of 1 plus the number; exact near 0.",
    "math.log2": "The logarithm to base 2.",
    "math.powf": "The first to the power of the second.",
    "math.round": "The nearest whole number; halves are rounded away from 0.",
    "math.roundeven": "The nearest whole number; halves are rounded to the even number.",
    "math.rsqrt": "1 divided by the square root.",
    "math.sin": "The sine of an angle in radians.",
    "math.sinh": "The hyperbolic sine.",
    "math.sqrt": "The square root.",
    "math.tan": "The tangent of an angle in radians.",
    "math.tanh": "The hyperbolic tangent.",
    "math.trunc": "The number rounded toward 0.",
    "scf.condition": "Ends the first region of scf.while: says whether the loop "
    "continues, and with which values.",
    "scf.yield": "Ends a region and returns its results.",
    "scf.reduce.return": "Ends a region of scf.reduce and returns the combined value.",
    "arith.addf": "The sum.",
    "arith.subf": "The difference.",
    "arith.mulf": "The product.",
    "arith.divf": "The quotient.  Dividing 0 by 0 gives NaN, and any other number by 0 infinity.",
    "arith.negf": "The number with its sign changed.",
}

_INTEGERS = {
    "add": "The sum, which wraps around.",
    "sub": "The difference, which wraps around.",
    "mul": "The product, which wraps around.",
    "and": "The bits that are 1 in both numbers.",
    "or": "The bits that are 1 in at least one of the numbers.",
    "xor": "The bits in which the numbers differ.",
    "divs": "The quotient, rounded toward 0.  Division by 0 is an error.",
    "divu": "The quotient of unsigned numbers.  Division by 0 is an error.",
    "ceildivs": "The quotient, rounded up.  Division by 0 is an error.",
    "ceildivu": "The quotient of unsigned numbers, rounded up.  Division by 0 is an error.",
    "floordivs": "The quotient, rounded down.  Division by 0 is an error.",
    "rems": "The remainder of a division rounded toward 0, with the sign "
    "of the dividend.  Division by 0 is an error.",
    "remu": "The remainder of an unsigned division.  Division by 0 is an error.",
    "maxs": "The larger one.",
    "maxu": "The larger of two unsigned numbers.",
    "mins": "The smaller one.",
    "minu": "The smaller of two unsigned numbers.",
    "shl": "The bits, shifted left; zeros fill in.",
    "shrs": "The bits, shifted right; the sign bit fills in.",
    "shru": "The bits, shifted right; zeros fill in.",
}
"""Operations of `index`, mapped to operations of `arith`, whose names add an `i`."""

_SCALARS = {one.name: one.family.text for one in OPERATIONS.values()} | {
    one.sync_name: f"{one.family.text}  In sync functions." for one in OPERATIONS.values()
}

_NATIVE = {one.name: one.text for one in ROWS}

_TYPE_PART = re.compile(r"u?i\d+|b?f\d+|complex\d+|bool|\d+|\d+ulp|\w+_to_\w+|i32(_i32)*")


def family_of(name: str) -> str:
    """Return the name without the types at its end."""
    parts = name.split(".")
    while len(parts) > 2 and _TYPE_PART.fullmatch(parts[-1]):
        parts.pop()
    return ".".join(parts)


def family_text(name: str) -> str:
    """Return the documentation of an operation's family, or "" if this table has none."""
    if text := _SCALARS.get(name) or _NATIVE.get(name):
        return text
    dialect, _, word = name.partition(".")
    if dialect == "arith" and (text := _INTEGERS.get(word.removesuffix("i"))):
        return text
    if name.startswith("linalg.conv_2d_"):
        name = "linalg.conv_2d"
    family = family_of(name)
    if family in FAMILIES:
        return FAMILIES[family]
    # At the end of a word, `_s` marks a sync operation. In `get_string`, it does not.
    plain, _, rest = family.partition("_s")
    text = FAMILIES.get(plain + rest, "") if rest == "" or rest.startswith(".") else ""
    return f"{text}  In sync functions." if text else ""
