// Names that are missing, or there twice.
func @one(%a: i32) -> i32 {
  %b = tfrt.add.i32 %a, %c
  tfrt.return %b : i32
}

// -----

func @two(%a: i32) -> i32 {
  %b = tfrt.add.i32 %a, %a
  %b = tfrt.add.i32 %a, %a
  tfrt.return %b : i32
}

// -----

func @three(%a: i32, %a: i32) {
  tfrt.return
}

// -----

func @four(%a: i32) {
  %q = tfrt.div.i32 %a, %a
  tfrt.return
}

// -----

func @five(%a: i32) {
  %q:3 = tfrt.div.i32 %a, %a
  tfrt.return
}

// -----

func @six(%a: i64) -> i32 {
  %b = tfrt.add.i32 %a, %a
  tfrt.return %b : i32
}

// -----

func @seven(%a: i32) -> i64 {
  tfrt.return %a : i64
}

// -----

func @one(%a: i32) {
  tfrt.return
}
func @one(%a: i32) {
  tfrt.return
}

// -----

func @used_too_early(%a: i32) -> i32 {
  %b = tfrt.add.i32 %a, %c
  %c = tfrt.add.i32 %a, %a
  tfrt.return %b : i32
}

// -----

func @inside(%a: i32, %c: i1) {
  tfrt.if %c : () -> () {
    %b = tfrt.add.i32 %a, %a
    tfrt.return
  }
  tfrt.return
}

// -----

func @twice_the_operand(%a: i32, %c: i1) {
  tfrt.if %c, %a, %a : (i32, i32) -> () {
    tfrt.return
  }
  tfrt.return
}

// -----

func @unknown_operation(%a: i32) {
  %b = tfrt.ad.i32 %a, %a
  %c = golden.op %a
  tfrt.return
}

// -----

func @part(%a: i32) -> i32 {
  %q:2 = tfrt.div.i32 %a, %a
  tfrt.return %q#2 : i32
}

// -----

func @no_body() {
}
