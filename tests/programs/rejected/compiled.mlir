// Programs of which functions are compiled.
func.func @cast_of_a_buffer() {
  %m = memref.alloc() : memref<4xi32>
  %i = arith.index_cast %m : memref<4xi32> to index
  return
}

// -----

func.func @main() -> !async.group {
  %one = arith.constant 1 : index
  %g = async.create_group %one : !async.group
  return %g : !async.group
}

// -----

func.func @f() {
  return
}
func.func @main() -> (() -> ()) {
  %f = constant @f : () -> ()
  return %f : () -> ()
}

// -----

func.func @main() -> !async.value<!async.value<!async.value<!async.value<!async.value<!async.value<!async.value<!async.value<!async.value<!async.value<!async.value<!async.value<!async.value<!async.value<!async.value<!async.value<!async.value<!async.value<!async.value<!async.value<!async.value<!async.value<!async.value<!async.value<i32>>>>>>>>>>>>>>>>>>>>>>>> {
  %c = arith.constant 1 : i32
  return %c : i32
}

// -----

func.func private @nowhere()
func.func @main() {
  call @nowhere() : () -> ()
  return
}

// -----

func.func @main() {
  %x = arith.constant 1 : index
  %v = "math.isnan"(%x) : (index) -> i1
  return
}
