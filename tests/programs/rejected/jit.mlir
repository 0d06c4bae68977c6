// Regions of machine code in host programs.
func @no_region(%a: i32) {
  "tfrt.jit"(%a) ({}) : (i32) -> ()
  tfrt.return
}

// -----

func @too_few_arguments(%a: i32) {
  "tfrt.jit"(%a, %a) ({
  ^bb0(%x: i32):
    tfrt.return
  }) : (i32, i32) -> ()
  tfrt.return
}

// -----

func @another_type(%a: i32) {
  "tfrt.jit"(%a) ({
  ^bb0(%x: i64):
    tfrt.return
  }) : (i32) -> ()
  tfrt.return
}

// -----

func @no_way_across(%a: i32) {
  tfrt.jit (%a as %x: vector<4xf32>) {
    tfrt.return
  }
  tfrt.return
}
// -----

func @an_operation_of_a_user() {
  %done = hex.run {
    %x = arith.constant 5 : i32
    "my.operation"(%x) : (i32) -> ()
    kernel.return
  } : !hex.chain
  tfrt.return
}
