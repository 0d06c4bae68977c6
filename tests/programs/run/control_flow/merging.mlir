// Chains put together, and values that wait for chains.
func @main() -> (!tfrt.chain, i32, i64) {
  %ch0 = tfrt.new.chain
  %a = "tfrt_test.async_constant.i32"() {value = 7 : i32} : () -> i32
  %b = tfrt.constant.i64 8
  %ch1 = tfrt.merge.chains %ch0, %a, %b : !tfrt.chain, i32, i64
  %ch2 = tfrt.print.i32 %a, %ch1
  %c = "tfrt.alias.value"(%ch2, %b) : (!tfrt.chain, i64) -> i64
  %ch3 = "tfrt.merge.chains"(%ch2, %c) : (!tfrt.chain, i64) -> !tfrt.chain
  %ch4 = tfrt.merge.chains
  %ch5 = "tfrt_test.as_chain"(%a, %ch3, %ch4) : (i32, !tfrt.chain, !tfrt.chain) -> !tfrt.chain
  %ch6 = "tfrt.new.chain"() : () -> !tfrt.chain
  %ch7 = tfrt.merge.chains %ch5, %ch6 {_tfrt_cost = 3 : i64} : !tfrt.chain, !tfrt.chain
  tfrt.return %ch7, %a, %c : !tfrt.chain, i32, i64
}
