// No branch has the number: all results are an error, and what needs none of them goes on.
func @value(%ch: !tfrt.chain, %x: i32) -> (!tfrt.chain, i32) {
  tfrt.return %ch, %x : !tfrt.chain, i32
}

func @too_large() -> (!tfrt.chain, i32, i32) {
  %ch = tfrt.new.chain
  %x = tfrt.constant.i32 5
  %i = tfrt.constant.i32 2
  // expected-error @+1 {{runtime error: branch_index invalid. branch index: 2 # branches: 2}}
  %ch1, %a = tfrt.case %i [@value, @value] (%ch, %x) : (i32) -> (i32)
  tfrt.return %ch1, %a, %x : !tfrt.chain, i32, i32
}

func @negative() -> i32 {
  %ch = tfrt.new.chain
  %x = tfrt.constant.i32 5
  %i = tfrt.constant.i32 -1
  %ch1, %a = tfrt.case %i [@value] (%ch, %x) : (i32) -> (i32) // expected-error {{branch index: -1 # branches: 1}}
  tfrt.return %a : i32
}
