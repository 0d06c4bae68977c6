// What the first host programs of a learner have wrong.
func.func @main() -> i32 {
  %a = tfrt.constant.i32 1
}
// -----
func.func @main() -> i32 {
  %a = tfrt.constant.i32 1
  tfrt.return %a
}
// -----
func.func @main() -> i32, i32 {
  %a = tfrt.constant.i32 1
  tfrt.return %a, %a : i32, i32
}
// -----
func.func @main() -> i32 {
  %c = tfrt.constant.i1 true
  %r = tfrt.if %c : () -> (i32) {
    %b = tfrt.constant.i32 2
    tfrt.return %b : i32
  }
  tfrt.return %r : i32
}
// -----
func.func @main() -> i32 {
  %c = tfrt.constant.i1 true
  %r = tfrt.if %c : () -> (i32) {
    %b = tfrt.constant.i32 2
    tfrt.return %b : i32
  } else {
    tfrt.return
  }
  tfrt.return %r : i32
}
// -----
func.func @main() -> i32 {
  %c = tfrt.constant.i1 true
  %r = tfrt.if %c : () -> (i32) {
    %b = tfrt.constant.i32 2
  } else {
    %b = tfrt.constant.i32 2
    tfrt.return %b : i32
  }
  tfrt.return %r : i32
}
// -----
func.func @main() -> i32 {
  %n = tfrt.constant.i32 3
  %x = tfrt.constant.i32 1
  %r = tfrt.repeat.i32 %n, %x : i32 {
    %y = tfrt.add.i32 %x, %x
    tfrt.return
  }
  tfrt.return %r : i32
}
// -----
func.func @double(%x: i32) -> i32 {
  %y = tfrt.add.i32 %x, %x
  tfrt.return %y : i32
}
func.func @main() -> i32 {
  %r = tfrt.call @double() : () -> i32
  tfrt.return %r : i32
}
// -----
func.func @double(%x: i32) -> i32 {
  %y = tfrt.add.i32 %x, %x
  tfrt.return %y : i32
}
func.func @main() -> i32 {
  %a = tfrt.constant.f32 1.0
  %r = tfrt.call @double(%a) : (f32) -> i32
  tfrt.return %r : i32
}
// -----
func.func @double(%x: i32) -> i32 {
  %y = tfrt.add.i32 %x, %x
  tfrt.return %y : i32
}
func.func @main() -> i32 {
  %a = tfrt.constant.i32 1
  %r = @double(%a) : (i32) -> i32
  tfrt.return %r : i32
}
// -----
func.func @double(%x: i32) -> i32 {
  %y = tfrt.add.i32 %x, %x
  tfrt.return %y : i32
}
func.func @main() -> i32 {
  %a = tfrt.constant.i32 1
  %r = tfrt.call double(%a) : (i32) -> i32
  tfrt.return %r : i32
}
// -----
func.func @double(%x) -> i32 {
  %y = tfrt.add.i32 %x, %x
  tfrt.return %y : i32
}
// -----
func.func @double(x: i32) -> i32 {
  tfrt.return %x : i32
}
// -----
func.func double(%x: i32) -> i32 {
  tfrt.return %x : i32
}
// -----
func.func @main() {
  %a = tfrt.constant.i32(1)
  tfrt.return
}
// -----
func.func @main() {
  %a = tfrt.constant.i32 1
  %ch = tfrt.new.chain
  %x, %ch1 = tfrt.print.i32 %a, %ch
  tfrt.return
}
// -----
func.func @main() {
  func.func @inner() { tfrt.return }
  tfrt.return
}
// -----
func.func @a(%x: i32) -> i32 { tfrt.return %x : i32 }
func.func @main() -> i32 {
  %i = tfrt.constant.i32 7
  %x = tfrt.constant.i32 2
  %r = tfrt.case %i [@a] (%x) : (i32) -> i32
  tfrt.return %r : i32
}
// -----
func.func @main() -> i32 {
  %x = tfrt.constant.i32 2
  %y = tfrt.add.i32 %x, %y
  tfrt.return %y : i32
}
// -----
func.func @main() -> i32 {
  %x = tfrt.constant.i1 1
  %y = tfrt.constant.i1 yes
  tfrt.return %x : i1
}
// -----
func.func @main() {
  tfrt.print.string "hello"
  tfrt.return
}
// -----
func.func @main() {
  %x = tfrt.constant_s.i32 1
  tfrt.return
}
