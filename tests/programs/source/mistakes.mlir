// RUN: errors
// Each function has a mistake of its own, and all of them are reported.

func @undefined() -> i32 {
  %one = tfrt.constant.i32 1
  // CHECK: mistakes.mlir:[[# @LINE + 7]]:15: error: '%ome' is not defined
  // CHECK-NEXT:   tfrt.return %ome : i32
  // CHECK-NEXT: {{^}}              ^~~~
  // CHECK-NEXT: mistakes.mlir:[[# @LINE + 4]]:15: note: use of undeclared SSA value name
  // CHECK-NEXT:   tfrt.return %ome : i32
  // CHECK-NEXT: {{^}}              ^~~~
  // CHECK-NEXT: mistakes.mlir:[[# @LINE - 7]]:3: note: did you mean '%one'?
  tfrt.return %ome : i32
}

func @twice(%x: i32) {
  %y = tfrt.add.i32 %x, %x
  // CHECK: error: '%y' already has a value: choose another name
  // CHECK-NEXT: %y = tfrt.mul.i32 %x, %x
  // CHECK-NEXT: {{^}}  ^~{{$}}
  // CHECK-NEXT: note: redefinition of SSA value '%y'
  // CHECK-NEXT: %y = tfrt.mul.i32 %x, %x
  // CHECK-NEXT: {{^}}  ^~{{$}}
  // CHECK-NEXT: note: previously defined here
  %y = tfrt.mul.i32 %x, %x
  tfrt.return
}

func @unknown(%x: i32) {
  // CHECK: error: there is no operation 'tfrt.pritn.i32'
  // CHECK: note: did you mean 'tfrt.print.i32'?
  tfrt.pritn.i32 %x
  tfrt.return
}

func @too_large() -> i64 {
  // CHECK: error: this number does not fit its type
  // CHECK-NEXT: %k = tfrt.constant.i64 18446744073709551616
  // CHECK-NEXT: {{^}}                         ^~~~~~~~~~~~~~~~~~~~{{$}}
  // CHECK-NEXT: note: integer constant out of range for attribute
  // CHECK-NEXT: %k = tfrt.constant.i64 18446744073709551616
  // CHECK-NEXT: {{^}}                         ^~~~~~~~~~~~~~~~~~~~{{$}}
  %k = tfrt.constant.i64 18446744073709551616
  tfrt.return %k : i64
}
