// tfrt.case: the chain is left out of the types, or written; the index picks a branch.
func @add(%ch: !tfrt.chain, %x: i32) -> (!tfrt.chain, i32) {
  %r = tfrt.add.i32 %x, %x
  tfrt.return %ch, %r : !tfrt.chain, i32
}

func @square(%ch: !tfrt.chain, %x: i32) -> (!tfrt.chain, i32) {
  %r = tfrt.mul.i32 %x, %x
  %ch1 = tfrt.print.i32 %r, %ch
  tfrt.return %ch1, %r : !tfrt.chain, i32
}

func @implicit_chain() -> (!tfrt.chain, i32) {
  %ch = tfrt.new.chain
  %x = tfrt.constant.i32 5
  %i = tfrt.constant.i32 0
  %ch1, %a = tfrt.case %i [@add, @square] (%ch, %x) : (i32) -> (i32)
  %j = tfrt.constant.i32 1
  %ch2, %b = tfrt.case %j [@add, @square] (%ch1, %a) : (i32) -> (i32)
  tfrt.return %ch2, %b : !tfrt.chain, i32
}

func @written_chain() -> (!tfrt.chain, i32) {
  %ch = tfrt.new.chain
  %x = tfrt.constant.i32 7
  %i = tfrt.constant.i32 1
  %ch1, %a = tfrt.case %i [@add, @square] (%ch, %x) : (!tfrt.chain, i32) -> (!tfrt.chain, i32)
  tfrt.return %ch1, %a : !tfrt.chain, i32
}

func @value(%x: i32) -> i32 {
  tfrt.return %x : i32
}

func @no_chain() -> i32 {
  %x = tfrt.constant.i32 9
  %i = tfrt.constant.i32 0
  %r = "tfrt.case"(%i, %x) {branches = [@value]} : (i32, i32) -> i32
  tfrt.return %r : i32
}

func @nothing() {
  tfrt.return
}

func @no_values() {
  %i = tfrt.constant.i32 0
  "tfrt.case"(%i) {branches = [@nothing, @nothing]} : (i32) -> ()
  tfrt.return
}

func @the_same_branch_twice() -> i32 {
  %x = tfrt.constant.i32 9
  %i = "tfrt_test.async_constant.i32"() {value = 1 : i32} : () -> i32
  %r = "tfrt.case"(%i, %x) {branches = [@value, @value]} : (i32, i32) -> i32
  tfrt.return %r : i32
}
