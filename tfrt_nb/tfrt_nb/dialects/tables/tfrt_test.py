"""The kernels that test and demonstrate the runtime.

The kernels cover asynchrony, errors, lifetimes, strings, and atomics. A `vt` value prints a line
when it is constructed, moved, copied, or destroyed. The `demo` kernels wait, so that a first
program is worth watching. Kernels with regions or callees are in `control_flow`.
"""

from tfrt_nb.dialects.tables.signatures import Form, family, kernel, native, table

_INTEGERS = "i32 i64"

SIGNATURES = table(
    native("tfrt_test"),
    # Asynchrony
    kernel("tfrt_test.quiesce", "chain -> chain"),
    kernel("tfrt_test.get_thread_id", "chain -> i32"),
    kernel("tfrt_test.test_cost", "any* -> i32 / chain", Form.TYPED, id="i64", _tfrt_cost="i64?"),
    # Atomics
    # Errors
    # Strings
    kernel("tfrt_test.print_hello", "chain -> chain"),
    kernel("tfrt_test.get_string", "-> string", Form.OPERANDS, value="string"),
    kernel("tfrt_test.append_string", "string string -> string"),
    kernel("tfrt_test.string_equal", "string string -> i1"),
    kernel("tfrt_test.format_string", "string i32 -> string"),
    kernel("tfrt_test.read_string_from_file", "string -> string"),
    kernel("tfrt_test.print_string", "string chain -> chain"),
    kernel("tfrt_test.logging", "string chain -> chain"),
    kernel("tfrt_test.async_value_get", "-> string"),
    kernel("tfrt_test.async_value_ref", "-> string"),
    # Probes
    kernel("tfrt_test.print_bool", "chain i1 -> chain"),
    kernel("tfrt_test.flat", "-> string i32 i32 f32", value="aggregate"),
    kernel("tfrt_test.const_dense_attr", "-> tensor", value="dense"),
    kernel("tfrt_test.allocate_resource", "chain -> resource chain"),
    kernel("tfrt_test.deallocate_resource", "resource chain -> chain"),
    kernel("tfrt_test.use_sample_shared_context", "chain -> string chain"),
    kernel("tfrt_test.unique_loc", "-> chain", name="string"),
    kernel("tfrt_test.print_debug_info", "chain -> chain"),
    kernel("tfrt_test.print_typed_attr", "chain -> chain", Form.OPERANDS, value="typed"),
    kernel("tfrt_test.memory_leak_one_int32", "chain -> chain"),
    family(_INTEGERS, "tfrt_test.sum_array_attr.{}", "-> {}", value="array.{}"),
    kernel("tfrt_test.get_request_context_data.i32", "-> i32"),
    kernel("tfrt_test.print_tensor_type", "chain -> chain"),
    kernel("tfrt_test.get_static_tensor_type", "-> i32"),
    # In sync functions
    kernel("tfrt_test.get_string_sync", "-> string", value="string"),
    kernel("tfrt_test.sync.const_dense_attr", "-> tensor", value="dense"),
    # For a tutorial
    kernel("tfrt_tutorial.create_coordinate", "i32 i32 -> coordinate"),
    kernel("tfrt_tutorial.print_coordinate", "coordinate chain -> chain"),
    # For any types
    kernel("tfrt_test.share_to_two", "vt -> vt vt"),
    kernel("tfrt_test.invoke_sync_function.i32_i32.i32", "i32 i32 -> i32"),
    kernel("tfrt_test.invoke_sync_function.i32_i32.i32_i32", "i32 i32 -> i32 i32"),
    # Values that print
    kernel("vt.constant", "-> vt", value="i32"),
    kernel("vt.add", "vt vt -> vt"),
    kernel("vt.print", "vt chain -> chain"),
    # In quotes, this operation takes operands of any types and returns them.
    kernel("demo.wait", "chain -> chain", seconds="f64"),
    family("i1 i32 i64 f32 f64", "demo.wait.{}", "{0} -> {0}", Form.OPERANDS, seconds="f64"),
)
"""The kernels without regions and callees: `tfrt_test.*`, `tfrt_tutorial.*`, `vt.*`, `demo.*`."""
