// Modules that cannot become a file.
func private @external(i32) -> i32

// -----

func @attributes() {
  "my.op"() {index = 1 : index} : () -> ()
  "my.op"() {unit} : () -> ()
  "my.op"() {dictionary = {a = 1 : i32}} : () -> ()
  "my.op"() {width = 1 : i7} : () -> ()
  "my.op"() {kind = tensor<2xi32>} : () -> ()
  tfrt.return
}

// -----

func @captured(%a: i32) {
  "my.region"() ({
    %b = tfrt.add.i32 %a, %a
    tfrt.return %b : i32
  }) : () -> ()
  tfrt.return
}

// -----

func @blocks() {
  "my.region"() ({
    tfrt.return
  ^other:
    tfrt.return
  }) : () -> ()
  tfrt.return
}

// -----

func @sync_argument(%a: i32) -> i32 attributes {tfrt.sync} {
  tfrt.return %a : i32
}

// -----

func @sync_twice() -> (i32, i32) attributes {tfrt.sync} {
  %a = "tfrt.constant_s.i32"() {value = 1 : i32} : () -> i32
  tfrt.return %a, %a : i32, i32
}

// -----

func @symbol() {
  "my.op"() {where = @nowhere} : () -> ()
  tfrt.return
}

// -----

func @two_blocks_and_no_return() {
  "my.jump"()[^end] : () -> ()
^end:
  tfrt.return
}

// -----

func @other_end() {
  %a = tfrt.constant.i32 1
  "my.end"() : () -> ()
}
// -----
func @f() {
  "my.op"() {a = 1 : i4, b = index} : () -> ()
  "my.op"() {c} : () -> ()
  tfrt.return
}
func private @g()
// -----
func @f() {
  "my.region"() ({
    "my.end"() : () -> ()
  }) : () -> ()
  tfrt.return
}
// -----
func @f() {
  "my.region"() ({}) : () -> ()
  tfrt.return
}
// -----
func @f() {
  "my.\00op"() : () -> ()
  tfrt.return
}
// -----
func @f() {
  "my.op"() {"a\00" = 1 : i32} : () -> ()
  tfrt.return
}
