// White space, comments and locations in unusual places.
	func @tabs ( ) -> ( i32 , i32 ) { // behind a brace
%a=tfrt.constant.i32 1%b=tfrt.constant.i32 2
      %c   =   tfrt.add.i32 %a ,%b   // trailing


  // %d = tfrt.add.i32 %c, %c
  tfrt.return %c
    ,
    %b : i32 ,
    i32 }func @"quoted name"()->(i32){%0=tfrt.constant.i32 7 tfrt.return %0:i32}

func @numbers_and_signs() -> (i32, i32) {
  %0 = tfrt.constant.i32 1
  %1 = tfrt.constant.i32 -1
  %a_b.c$d-e = tfrt.add.i32 %0, %1
  %2:2 = tfrt.div.i32 %a_b.c$d-e, %1
  tfrt.return %2#0, %2#1 : i32, i32
}

func @locations() -> (i32, i32, i32, i32, i32) {
  %a = tfrt.constant.i32 1 loc("a.py":1:2)
  %b = tfrt.constant.i32 2 loc("name")
  %c = tfrt.add.i32 %a, %b loc(callsite("f"("b.py":3:4) at "g.py":5:6))
  %d = tfrt.add.i32 %a, %c loc(fused["a.py":1:2, "b.py":3:4])
  %e = tfrt.add.i32 %c, %d loc(#somewhere)
  tfrt.return %a, %b, %c, %d, %e : i32, i32, i32, i32, i32 loc(unknown)
} loc("whole.py":9:9)

#somewhere = loc("c.py":7:8)

module @inner {
}
