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
