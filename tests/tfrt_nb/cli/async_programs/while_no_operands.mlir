func.func @main() {
  %m = memref.alloca() : memref<i64>
  %zero = arith.constant 0 : i64
  memref.store %zero, %m[] : memref<i64>
  scf.while : () -> () {
    %x = memref.load %m[] : memref<i64>
    %five = arith.constant 5 : i64
    %go = arith.cmpi ult, %x, %five : i64
    scf.condition(%go)
  } do {
    %one = arith.constant 1 : i64
    %x = memref.load %m[] : memref<i64>
    %y = arith.addi %x, %one : i64
    memref.store %y, %m[] : memref<i64>
    scf.yield
  }
  %x = memref.load %m[] : memref<i64>
  call @printI64(%x) : (i64) -> ()
  return
}
func.func private @printI64(i64)
