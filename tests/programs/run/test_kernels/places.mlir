// RUN: places
// Kernels that know where they stand in the source.
func @debug_info() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %ch1 = "tfrt_test.print_debug_info"(%ch0) : (!tfrt.chain) -> !tfrt.chain
  %ch2 = "tfrt_test.print_debug_info"(%ch1) : (!tfrt.chain) -> !tfrt.chain loc("named")
  %ch3 = "tfrt_test.print_debug_info"(%ch2) : (!tfrt.chain) -> !tfrt.chain loc("outer"("file.py":3:4))
  %ch4 = "tfrt_test.print_debug_info"(%ch3) : (!tfrt.chain) -> !tfrt.chain loc(callsite("callee" at "file.py":3:4))
  %ch5 = "tfrt_test.print_debug_info"(%ch4) : (!tfrt.chain) -> !tfrt.chain loc(fused["a.py":1:1, "in front", "a.py":2:2])
  %ch6 = "tfrt_test.print_debug_info"(%ch5) : (!tfrt.chain) -> !tfrt.chain loc(unknown)
  %ch7 = "tfrt_test.print_debug_info"(%ch6) : (!tfrt.chain) -> !tfrt.chain loc("")
  tfrt.return %ch7 : !tfrt.chain
}

func @two_places() -> !tfrt.chain {
  %ch3 = "tfrt_test.unique_loc"() {name = "a"} : () -> !tfrt.chain
  %ch4 = "tfrt_test.unique_loc"() {name = "b"} : () -> !tfrt.chain
  %ch5 = tfrt.merge.chains %ch3, %ch4 : !tfrt.chain, !tfrt.chain
  tfrt.return %ch5 : !tfrt.chain
}

func @one_place() -> !tfrt.chain {
  %ch3 = "tfrt_test.unique_loc"() {name = "a"} : () -> !tfrt.chain loc("x.py":1:1)
  %ch4 = "tfrt_test.unique_loc"() {name = "a"} : () -> !tfrt.chain loc("x.py":1:1)
  %ch5 = tfrt.merge.chains %ch3, %ch4 : !tfrt.chain, !tfrt.chain
  tfrt.return %ch5 : !tfrt.chain
}

func @one_place_for_two() -> !tfrt.chain {
  %ch3 = "tfrt_test.unique_loc"() {name = "a"} : () -> !tfrt.chain loc("x.py":1:1)
  %ch4 = "tfrt_test.unique_loc"() {name = "b"} : () -> !tfrt.chain loc("x.py":1:1)
  %ch5 = tfrt.merge.chains %ch3, %ch4 : !tfrt.chain, !tfrt.chain
  tfrt.return %ch5 : !tfrt.chain
}
