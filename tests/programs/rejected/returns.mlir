// tfrt.return in its wrong forms: each is reported.
func @too_few(%a: i32) -> (i32, i32) {
  tfrt.return %a : i32
}

// -----

func @too_many(%a: i32) {
  tfrt.return %a : i32
}

// -----

func @another_type(%a: i32) -> !tfrt.chain {
  tfrt.return %a : i32
}

// -----

func @two_other_types(%a: i32, %b: i64) -> (i64, i32) {
  tfrt.return %a, %b : i32, i64
}

// -----

func @in_the_middle(%a: i32) -> i32 {
  tfrt.return %a : i32
  %b = tfrt.add.i32 %a, %a
  tfrt.return %b : i32
}

// -----

func @none(%a: i32) -> i32 {
  %b = tfrt.add.i32 %a, %a
}

// -----

func @none_but_something_unknown() {
  "my.end"() : () -> ()
}
