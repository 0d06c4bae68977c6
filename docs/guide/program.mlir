func.func @main() -> i32 {
  %one = tfrt.constant.i32 1
  %left = demo.wait.i32 %one {seconds = 0.01}
  %right = demo.wait.i32 %one {seconds = 0.02}
  %sum = tfrt.add.i32 %left, %right
  tfrt.return %sum : i32
}
func.func @double(%x: i32) -> i32 {
  %twice = tfrt.add.i32 %x, %x
  tfrt.return %twice : i32
}
