// What a traced function's tfrt.recover and tfrt.map(..., errors="keep") become: an error is replaced, or kept as an object.
func.func @replaced() -> i32 {
  %zero = tfrt.constant.i32 0
  %q, %r = tfrt.div.i32 %zero, %zero
  %x = "tfrt.recover"(%q, %zero) : (i32, i32) -> i32
  tfrt.return %x : i32
}

func.func @untouched() -> i32 {
  %six = tfrt.constant.i32 6
  %two = tfrt.constant.i32 2
  %q, %r = tfrt.div.i32 %six, %two
  %x = "tfrt.recover"(%q, %two) : (i32, i32) -> i32
  tfrt.return %x : i32
}

func.func @kept() -> !tfrt.object {
  %six = tfrt.constant.i32 6
  %two = tfrt.constant.i32 2
  %q, %r = tfrt.div.i32 %six, %two
  %x = "tfrt.kept"(%q) : (i32) -> !tfrt.object
  tfrt.return %x : !tfrt.object
}
