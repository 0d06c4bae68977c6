// Numbers, strings and types that are none.
func @one() {
  %a = tfrt.constant.i32 4294967296
  tfrt.return
}

// -----

func @two() {
  %a = tfrt.constant.i32 1.5
  tfrt.return
}

// -----

func @three() {
  %a = tfrt.constant.f32 1
  tfrt.return
}

// -----

func @four() {
  %a = tfrt.constant.i1 2
  tfrt.return
}

// -----

func @five() {
  %a = tfrt.constant.ui32 -1
  tfrt.return
}

// -----

func @six() -> !ts.form {
  tfrt.return
}

// -----

func @seven() -> !t.matrix {
  tfrt.return
}

// -----

func @eight() {
  %a = tfrt_test.get_string {value = "open}
  tfrt.return
}

// -----

func @nine() {
  "my.op"() {value = 256 : ui8} : () -> ()
  tfrt.return
}

// -----

func @ten() {
  "my.op"() {value = dense<[1, 2, 3]> : tensor<2xi32>} : () -> ()
  tfrt.return
}

// -----

func @eleven() {
  "my.op"() {value = 99999999999999999999999 : i64} : () -> ()
  tfrt.return
}
