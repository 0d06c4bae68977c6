#map = affine_map<(d0) -> (d0)>
!tok = !async.token
#loc = loc("x.mlir":1:1)
module {
  func.func @main() attributes {llvm.emit_c_interface} {
    %four = arith.constant 4 : i64 loc("y":3:4)
    %t = async.execute attributes {tag = #map} {
      func.call @printI64(%four) : (i64) -> () loc(unknown)
      async.yield loc(#loc)
    } loc(#loc)
    async.await %t : !tok
    return
  }
  func.func private @printI64(i64) attributes {llvm.emit_c_interface}
}
