func.func @main() {
  %a = arith.constant -1 : i8
  %b = arith.constant 255 : i16
  %c = arith.constant true
  %d = arith.constant 2.5 : f16
  %e = arith.constant -3.25 : f32
  %t, %v:5 = async.execute -> (!async.value<i8>, !async.value<i16>, !async.value<i1>, !async.value<f16>, !async.value<f32>) {
    async.yield %a, %b, %c, %d, %e : i8, i16, i1, f16, f32
  }
  %ra = async.await %v#0 : !async.value<i8>
  %rb = async.await %v#1 : !async.value<i16>
  %rc = async.await %v#2 : !async.value<i1>
  %rd = async.await %v#3 : !async.value<f16>
  %re = async.await %v#4 : !async.value<f32>
  %ia = arith.extsi %ra : i8 to i64
  %ib = arith.extui %rb : i16 to i64
  %ic = arith.extui %rc : i1 to i64
  %fd = arith.extf %rd : f16 to f64
  %fe = arith.extf %re : f32 to f64
  call @printI64(%ia) : (i64) -> ()
  call @printComma() : () -> ()
  call @printI64(%ib) : (i64) -> ()
  call @printComma() : () -> ()
  call @printI64(%ic) : (i64) -> ()
  call @printComma() : () -> ()
  call @printF64(%fd) : (f64) -> ()
  call @printComma() : () -> ()
  call @printF64(%fe) : (f64) -> ()
  return
}
func.func private @printI64(i64)
func.func private @printF64(f64)
func.func private @printComma()
