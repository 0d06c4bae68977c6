// pipeline: builtin.module(canonicalize)
// Branches: known conditions, blocks that only branch on, one way in, arguments that nobody needs.
func.func private @use(i32)
func.func @known(%x: i32) -> i32 {
  %true = arith.constant true
  cf.cond_br %true, ^a(%x : i32), ^b
^a(%y: i32):
  cf.br ^c(%y : i32)
^b:
  func.call @use(%x) : (i32) -> ()
  cf.br ^c(%x : i32)
^c(%z: i32):
  return %z : i32
}
func.func @same(%c: i1, %x: i32, %y: i32) -> i32 {
  cf.cond_br %c, ^a(%x : i32), ^a(%y : i32)
^a(%z: i32):
  return %z : i32
}
func.func @through(%c: i1, %x: i32, %y: i32) -> i32 {
  cf.cond_br %c, ^a, ^b
^a:
  cf.br ^d(%x : i32)
^b:
  func.call @use(%y) : (i32) -> ()
  cf.cond_br %c, ^d(%x : i32), ^d(%y : i32)
^d(%z: i32):
  cf.assert %c, "known on one way only"
  return %z : i32
}
func.func @loop(%n: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  cf.br ^head(%zero, %one : i32, i32)
^head(%i: i32, %unused: i32):
  %more = arith.cmpi slt, %i, %n : i32
  cf.cond_br %more, ^body, ^done
^body:
  func.call @use(%i) : (i32) -> ()
  %next = arith.addi %i, %one : i32
  %other = arith.addi %unused, %one : i32
  cf.br ^head(%next, %other : i32, i32)
^done:
  return
^never:
  cf.br ^never
}
func.func @switch(%x: i32, %p: i32, %q: i32) -> i32 {
  cf.switch %x : i32, [
    default: ^a(%p : i32),
    1: ^a(%p : i32),
    2: ^b
  ]
^a(%v: i32):
  %two = arith.constant 2 : i32
  cf.switch %two : i32, [
    default: ^c(%p : i32),
    2: ^c(%v : i32)
  ]
^b:
  cf.br ^a(%q : i32)
^c(%w: i32):
  return %w : i32
}
