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

// -----

func @minus() {
  %a = tfrt.constant.i32 - 
  tfrt.return
}

// -----

func @type_of_a_number() {
  "my.op"() {value = 1 : !tfrt.chain} : () -> ()
  tfrt.return
}

// -----

func @minus_bits() {
  %a = tfrt.constant.f32 -0x7F800000
  tfrt.return
}

// -----

func @bits() {
  %a = tfrt.constant.f32 0x1FFFFFFFF
  tfrt.return
}

// -----

func @truth() {
  %a = tfrt.constant.i32 true
  tfrt.return
}

// -----

func @no_constant(%x: i32) {
  %a = tfrt.constant.i64 %x
  tfrt.return
}

// -----

func @large() {
  %a = tfrt.constant.f32 1.0e39
  tfrt.return
}

// -----

func @another(%t: !t.tensor, %c: !tfrt.chain) {
  %a = tfrt_dht.fill_tensor_with_constant.f32 %t, %c 1.0 : f64
  tfrt.return
}

// -----

func @others() {
  %a = ts.build_shape [1 : i64, 2 : i8]
  tfrt.return
}

// -----

func @words() {
  %a = ts.build_shape ["two"]
  tfrt.return
}

// -----

func @shape() {
  "golden.op"() {shape = #corert.shape<2x>} : () -> ()
  tfrt.return
}

// -----

func @no_shape() {
  "golden.op"() {shape = #corert.shape} : () -> ()
  tfrt.return
}

// -----

func @alias() {
  "golden.op"() {value = #nowhere} : () -> ()
  tfrt.return
}

// -----

#twice = 1 : i32
#twice = 2 : i32
func @alias() {
  "golden.op"() {value = #twice} : () -> ()
  tfrt.return
}

// -----

func @escape() {
  "golden.op"() {text = "a\q"} : () -> ()
  tfrt.return
}

// -----

func @large_shape() {
  "golden.op"() {shape = #corert.shape<2x18446744073709551615>} : () -> ()
  tfrt.return
}
