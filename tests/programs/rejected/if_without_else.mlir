func @one(%c: i1, %x: i32) -> i32 {
  %r = tfrt.if %c, %x : (i32) -> (i32) {
    tfrt.return %x : i32
  }
  tfrt.return %r : i32
}

// -----

func @two(%c: i1, %x: i32) -> i32 {
  %r = tfrt.if %c : () -> (i32) {
    tfrt.return %x : i32
  } else {
    tfrt.return %x : i32
  }
  tfrt.return %r : i32
}
