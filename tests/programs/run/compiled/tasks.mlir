// Tasks that fill, change and show one buffer, one after the other; what failed, and what did not.

func.func private @printMemrefF32(memref<*xf32>) attributes { llvm.emit_c_interface }

async.func @scaled(%m: memref<?xf32>, %by: f32) -> (!async.token, !async.value<memref<?xf32>>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %size = memref.dim %m, %zero : memref<?xf32>
  scf.parallel (%i) = (%zero) to (%size) step (%one) {
    %x = memref.load %m[%i] : memref<?xf32>
    %y = arith.mulf %x, %by : f32
    memref.store %y, %m[%i] : memref<?xf32>
  }
  return %m : memref<?xf32>
}
async.func @checked(%x: f32) -> !async.value<f32> {
  %limit = arith.constant 10.0 : f32
  %small = arith.cmpf olt, %x, %limit : f32
  cf.assert %small, "too large"
  return %x : f32
}
func.func @main() {
  %size = arith.constant 5 : index
  %two = arith.constant 2.0 : f32
  %m = memref.alloc(%size) : memref<?xf32>
  %any = memref.cast %m : memref<?xf32> to memref<*xf32>
  %filled = async.execute {
    linalg.fill ins(%two : f32) outs(%m : memref<?xf32>)
    func.call @printMemrefF32(%any) : (memref<*xf32>) -> ()
    async.yield
  }
  %shown = async.execute [%filled] {
    %inner, %value = async.call @scaled(%m, %two)
        : (memref<?xf32>, f32) -> (!async.token, !async.value<memref<?xf32>>)
    %same = async.await %value : !async.value<memref<?xf32>>
    %any_same = memref.cast %same : memref<?xf32> to memref<*xf32>
    func.call @printMemrefF32(%any_same) : (memref<*xf32>) -> ()
    async.yield
  }
  async.await %shown : !async.token

  %large = arith.constant 11.0 : f32
  %good = async.call @checked(%two) : (f32) -> !async.value<f32>
  %bad = async.call @checked(%large) : (f32) -> !async.value<f32>
  async.runtime.await %good : !async.value<f32>
  async.runtime.await %bad : !async.value<f32>
  %good_failed = async.runtime.is_error %good : !async.value<f32>
  %bad_failed = async.runtime.is_error %bad : !async.value<f32>
  vector.print %good_failed : i1
  vector.print %bad_failed : i1
  %x = async.await %good : !async.value<f32>
  vector.print %x : f32
  memref.dealloc %m : memref<?xf32>
  return
}
