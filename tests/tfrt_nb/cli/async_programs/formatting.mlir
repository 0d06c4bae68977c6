module @named attributes {a.b = 1 : i32} { func.func
  @main
  (
  ) { %x=arith.constant 3:i64 // comment
  %t,%v=async.execute[]()->(!async.value<i64>){async.yield %x:i64}
  %t2 , %v2 = async.execute [ %t , %t ] ( %v  as  %y : !async.value< i64 > , %v as %z : !async.value<i64> ) -> !async.value<i64>
    attributes { my.tag = "x" } { %four = arith.constant 4 : i64 %s = arith.addi %four , %y : i64
    async.yield %s:i64 }
  %a=async.await %v:!async.value<i64> %b = async.await %v2 : !async.value<i64>
  func.call@printI64(%a):(i64)->() func.call @printNewline():()->()
  call @printI64 ( %b ) : ( i64 ) -> ( )
  call @printNewline() : () -> () return }
func.func private @printI64(i64) func.func private @printNewline()
}
