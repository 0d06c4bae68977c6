// Slips of the pen.
func @one(%a: i32 -> i32 {
  tfrt.return %a : i32
}

// -----

func @two(%a: i32) -> i32
  tfrt.return %a : i32
}

// -----

func @three(%a: i32) -> (i32 {
  tfrt.return %a : i32
}

// -----

func @four(%a i32) {
  tfrt.return
}

// -----

func @five(%a: i32) {
  %b = tfrt.add.i32 %a %a
  tfrt.return
}

// -----

func @six(%a: i32) {
  %b tfrt.add.i32 %a, %a
  tfrt.return
}

// -----

func @seven(%a: i32) {
  %b = "tfrt.add.i32"(%a, %a) (i32, i32) -> i32
  tfrt.return
}

// -----

fun @eight() {
  tfrt.return
}

// -----

func nine() {
  tfrt.return
}

// -----

func @name_for_nothing() {
  %q = tfrt.return
}

// -----

func @no_name() {
  ""() : () -> ()
  tfrt.return
}

// -----

func @no_operation(%a: i32) {
  %b =
  tfrt.return
}

// -----

func @more(%a: i32) {
  %b = tfrt.add.i32 %a, %a 3
  tfrt.return
}

// -----

func @jump() {
  "golden.jump"() [^end] : () -> ()
}

// -----

func @block_in_a_body(%c: i1) {
  tfrt.if %c : () -> () {
  ^start:
    tfrt.return
  }
  tfrt.return
}

// -----

func @any_type(%ch: !tfrt.chain, %a: i32) {
  %b = tfrt.alias.value %ch, %a
  tfrt.return
}

// -----

func @fewer_types(%a: i32, %b: i32) -> i32 {
  %c = tfrt.call @fewer_types(%a, %b) : (i32) -> i32
  tfrt.return %c : i32
}

// -----

func @strange() {
  ;
  tfrt.return
}

// -----

func @jump_in_the_middle() {
  "golden.jump"() [^end] : () -> ()
  %a = tfrt.constant.i32 1
  tfrt.return
^end:
  tfrt.return
}
