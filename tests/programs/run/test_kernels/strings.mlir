// Strings: made, joined, compared, printed.
func @main() -> (i1, i1, !tfrt.chain) {
  %ch0 = tfrt.new.chain
  %a = tfrt_test.get_string { value = "left" }
  %b = "tfrt_test.get_string"() {value = "-\22right\22\09end"} : () -> !tfrt.string
  %c = "tfrt_test.append_string"(%a, %b) : (!tfrt.string, !tfrt.string) -> !tfrt.string
  %ch1 = "tfrt_test.print_string"(%c, %ch0) : (!tfrt.string, !tfrt.chain) -> !tfrt.chain
  %0 = "tfrt_test.string_equal"(%a, %a) : (!tfrt.string, !tfrt.string) -> i1
  %1 = "tfrt_test.string_equal"(%a, %c) : (!tfrt.string, !tfrt.string) -> i1
  %n = tfrt.constant.i32 -7
  %form = tfrt_test.get_string {value = "<%5d>"}
  %d = "tfrt_test.format_string"(%form, %n) : (!tfrt.string, i32) -> !tfrt.string
  %ch2 = "tfrt_test.print_string"(%d, %ch1) : (!tfrt.string, !tfrt.chain) -> !tfrt.chain
  %e = tfrt_test.get_string {value = ""}
  %ch3 = "tfrt_test.print_string"(%e, %ch2) : (!tfrt.string, !tfrt.chain) -> !tfrt.chain
  tfrt.return %0, %1, %ch3 : i1, i1, !tfrt.chain
}

func @returned() -> !tfrt.string {
  %a = tfrt_test.get_string {value = "text"}
  tfrt.return %a : !tfrt.string
}

func @own_words() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %a = "tfrt_test.async_value_get"() : () -> !tfrt.string
  %ch1 = "tfrt_test.print_string"(%a, %ch0) : (!tfrt.string, !tfrt.chain) -> !tfrt.chain
  %b = "tfrt_test.async_value_ref"() : () -> !tfrt.string
  %ch2 = "tfrt_test.print_string"(%b, %ch1) : (!tfrt.string, !tfrt.chain) -> !tfrt.chain
  %ch3 = "tfrt_test.print_hello"(%ch2) : (!tfrt.chain) -> !tfrt.chain
  tfrt.return %ch3 : !tfrt.chain
}

func @from_files() -> (!tfrt.chain, !tfrt.string) {
  %ch0 = tfrt.new.chain
  %path = tfrt_test.get_string {value = "strings.txt"}
  %a = "tfrt_test.read_string_from_file"(%path) : (!tfrt.string) -> !tfrt.string
  %ch1 = "tfrt_test.print_string"(%a, %ch0) : (!tfrt.string, !tfrt.chain) -> !tfrt.chain
  %nowhere = tfrt_test.get_string {value = "no such file"}
  // expected-error-re @+1 {{{{.*}}no such file}}
  %b = "tfrt_test.read_string_from_file"(%nowhere) : (!tfrt.string) -> !tfrt.string
  tfrt.return %ch1, %b : !tfrt.chain, !tfrt.string
}

func @formats_that_take_no_number() -> (!tfrt.string, !tfrt.string) {
  %n = tfrt.constant.i32 1
  %a = tfrt_test.get_string {value = "%s"}
  %0 = "tfrt_test.format_string"(%a, %n) : (!tfrt.string, i32) -> !tfrt.string // expected-error {{does not print an i32}}
  %b = tfrt_test.get_string {value = "%d %d"}
  %1 = "tfrt_test.format_string"(%b, %n) : (!tfrt.string, i32) -> !tfrt.string // expected-error {{more than one conversion}}
  tfrt.return %0, %1 : !tfrt.string, !tfrt.string
}
