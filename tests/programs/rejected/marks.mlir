// Where attributes, commas and parentheses are written.
func.func @main(%n: i32, %x: i32) -> i32 {
  %r = tfrt.repeat.i32 %n, %x {bef.nonstrict} : i32 {
    tfrt.return %x : i32
  }
  tfrt.return %r : i32
}
// -----
func.func @main(%c: i1, %x: i32) -> i32 {
  %r = tfrt.if %c, %x : (i32) -> (i32) {bef.nonstrict} {
    tfrt.return %x : i32
  } else {
    tfrt.return %x : i32
  }
  tfrt.return %r : i32
}
// -----
func.func @main(%x: i32) -> i32 {
  %r = tfrt.call @same(%x) : (i32) -> i32 {bef.nonstrict}
  tfrt.return %r : i32
}
func.func @same(%x: i32) -> i32 {
  tfrt.return %x : i32
}
// -----
func.func @main(%x: i32) -> i32 {
  %r = tfrt.call @same(%x) {nonstrict} : (i32) -> i32
  tfrt.return %r : i32
}
func.func @same(%x: i32) -> i32 {
  tfrt.return %x : i32
}
// -----
func.func @main(%x: i32) -> i32 {
  %r = demo.wait.i32 %x {second = 0.1}
  tfrt.return %r : i32
}
// -----
func.func @main(%x: i32) -> i32 {
  %r = demo.wait.i32 %x {seconds: 0.1}
  tfrt.return %r : i32
}
// -----
func.func @main(%ch: !tfrt.chain) -> !tfrt.chain {
  %m = tfrt.merge.chains %ch %ch : !tfrt.chain, !tfrt.chain
  tfrt.return %m : !tfrt.chain
}
// -----
func.func @same(%x: i32) -> i32 {
  tfrt.return %x : i32
}
func.func @commas(%c: i1, %x: i32) -> i32 {
  %r = tfrt.cond %c, @same, @same (%x) : (i32) -> (i32)
  tfrt.return %r : i32
}
func.func @parentheses(%c: i1, %x: i32) -> i32 {
  %r = tfrt.cond %c @same @same %x : (i32) -> (i32)
  tfrt.return %r : i32
}
func.func @types(%x: i32) -> i32 {
  %r = tfrt.call @same(%x) : i32 -> i32
  tfrt.return %r : i32
}
// -----
func.func @main -> i32 {
  %x = tfrt.constant.i32 1
  tfrt.return %x : i32
}
// -----
def main():
