func.func @main(%n: i32) -> i32 attributes {tfrt.sync} {
  %one = tfrt.constant_s.i32 1
  %is_small = tfrt.lessequal_s.i32 %n, %one
  %result = tfrt.if %is_small, %n : (i32) -> i32 {
    tfrt.return %n : i32
  } else {
    %inner_one = tfrt.constant_s.i32 1
    %before = tfrt.minus_s.i32 %n, %inner_one
    %first = tfrt.minus_s.i32 %before, %inner_one
    %left = tfrt.call @main(%before) : (i32) -> i32
    %right = tfrt.call @main(%first) : (i32) -> i32
    %sum = tfrt.add_s.i32 %left, %right
    tfrt.return %sum : i32
  }
  tfrt.return %result : i32
}
