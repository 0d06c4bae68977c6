// Functions may be used before they are defined; nested regions and many results.
func @main() -> (i32, i32, i32) {
  %a = tfrt.constant.i32 2
  %r:3 = tfrt.call @later(%a) : (i32) -> (i32, i32, i32)
  tfrt.return %r#2, %r#0, %r#1 : i32, i32, i32
}

func private @later(%x: i32) -> (i32, i32, i32) {
  %t = tfrt.constant.i1 true
  %n = tfrt.constant.i32 2
  %r:2 = tfrt.repeat.i32 %n, %x, %t : i32, i1 {
    %y = tfrt.if %t, %x : (i32) -> i32 {
      %u = tfrt_test.do.async %x : (i32) -> i32 {
        %v = tfrt.mul.i32 %x, %x
        tfrt.return %v : i32
      }
      tfrt.return %u : i32
    } else {
      tfrt.return %x : i32
    }
    tfrt.return %y, %t : i32, i1
  }
  tfrt.return %x, %r#0, %x : i32, i32, i32
}

func @returns_its_own() -> (i32, i32, i32) {
  %a = tfrt.constant.i32 1
  %b = tfrt.add.i32 %a, %a
  tfrt.return %b, %b, %a : i32, i32, i32
}
