"builtin.module"() ({
  "func.func"() <{function_type = () -> (), sym_name = "main"}> ({
    %0 = "arith.constant"() <{value = 5 : i64}> : () -> i64
    %1 = "arith.constant"() <{value = 7 : i64}> : () -> i64
    %2:2 = "async.execute"() <{sym_visibility = array<i32: 0, 0>}> ({
      %5 = "arith.addi"(%0, %1) <{overflowFlags = #arith.overflow<none>}> : (i64, i64) -> i64
      "async.yield"(%5) : (i64) -> ()
    }) : () -> (!async.token, !async.value<i64>)
    %3:2 = "async.execute"(%2#0, %2#1) <{operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg0: i64):
      "async.yield"(%arg0) : (i64) -> ()
    }) : (!async.token, !async.value<i64>) -> (!async.token, !async.value<i64>)
    %4 = "async.await"(%3#1) : (!async.value<i64>) -> i64
    "func.call"(%4) <{callee = @printI64}> : (i64) -> ()
    "func.call"() <{callee = @printNewline}> : () -> ()
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (i64) -> (), sym_name = "printI64", operandSegmentSizes = "private"}> ({
  }) : () -> ()
  "func.func"() <{function_type = () -> (), sym_name = "printNewline", sym_visibility = "private"}> ({
  }) : () -> ()
}) : () -> ()
