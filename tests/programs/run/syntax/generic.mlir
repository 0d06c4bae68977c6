// What tools print who know no short forms: the functions of 2020 and of 2022, later attributes.
"builtin.module"() ({
  "func"() ({
    %0 = "tfrt.constant.i32"() {value = 1 : i32} : () -> i32
    "tfrt.return"(%0) : (i32) -> ()
  }) {sym_name = "of_2020", type = () -> i32} : () -> ()
  "builtin.func"() ({
  ^bb0(%arg0: i32):
    "tfrt.return"(%arg0) : (i32) -> ()
  }) {sym_name = "identity", sym_visibility = "private", type = (i32) -> i32} : () -> ()
  "builtin.func"() ({
    %0 = "tfrt.constant.i32"() {value = 2 : i32} : () -> i32
    %1 = "tfrt.call"(%0) {callee = @identity} : (i32) -> i32
    "tfrt.return"(%1) : (i32) -> ()
  }) {sym_name = "of_2022", type = () -> i32} : () -> ()
  builtin.func @by_its_whole_name() {
    "tfrt.return"() : () -> ()
  }
  "func.func"() <{function_type = () -> (i32, i1), sym_name = "of_later_versions"}> ({
    %0 = "tfrt.constant.i32"() <{value = 3 : i32}> : () -> i32
    %1 = "tfrt.constant.i1"() <{value = true}> : () -> i1
    %2 = "tfrt.if"(%1, %0) ({
    ^bb0(%arg0: i32):
      "tfrt.return"(%arg0) : (i32) -> ()
    }, {
    ^bb0(%arg0: i32):
      %3 = "tfrt_test.sum"(%arg0, %arg0) <{}> {} : (i32, i32) -> i32
      "tfrt.return"(%3) : (i32) -> ()
    }) : (i1, i32) -> i32
    "tfrt.return"(%2, %1) : (i32, i1) -> ()
  }) : () -> ()
}) : () -> ()
