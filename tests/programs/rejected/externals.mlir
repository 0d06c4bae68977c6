// Functions that a program declares and may not call, or not so.
// Functions of the process.
func.func private @system(i64) -> i32
func.func @main() {
  return
}
// -----
func.func private @abort(i64) -> i32
func.func @main() {
  return
}
// -----
func.func private @malloc(i64) -> i32
func.func @main() {
  return
}
// -----
func.func private @dlopen(i64) -> i32
func.func @main() {
  return
}
// -----
func.func private @memcpy2(i64) -> i32
func.func @main() {
  return
}
// -----
// What the compiler calls.
func.func private @tfrtAsyncFreeFrame(!async.token, i64, i64)
func.func @main() {
  return
}
// -----
func.func private @mlirAsyncRuntimeGetValueStorage(!async.token) -> !async.value<i64>
func.func @main() {
  return
}
// -----
func.func private @mlirAsyncRuntimeCreateToken() -> !async.token
func.func @main() {
  return
}
// -----
func.func private @memcpy(i64, i64, i64) -> i64
func.func @main() {
  return
}
// -----
func.func private @sin(f64) -> f64
func.func @main() {
  return
}
// -----
// Names that are nearly right; what may be called is said once.
func.func private @prinI64(i64)
func.func private @nanotime() -> i64
func.func @main() {
  return
}
// -----
// Another type than the function has.
func.func private @printI64(f64)
func.func @main() {
  return
}
// -----
func.func private @printI64(i64) -> i64
func.func @main() {
  return
}
// -----
func.func private @printNewline(i64)
func.func @main() {
  return
}
// -----
func.func private @nanoTime() -> !async.token
func.func @main() {
  return
}
// -----
func.func private @printMemrefF32(memref<?xf32>)
func.func @main() {
  return
}
// -----
func.func private @printMemrefI64(memref<*xindex>)
func.func @main() {
  return
}
// -----
// In a region of a host program.
func.func private @exit(i32)
func.func @main() -> i32 {
  %x = tfrt.constant.i32 1
  %y = tfrt.jit (%x as %a: i32) -> i32 {
    func.call @exit(%a) : (i32) -> ()
    tfrt.return %a : i32
  }
  tfrt.return %y : i32
}
