func.func @f(%x: !async.foo) { return }
// 1:25: error: unknown  type `foo` in dialect `async`
// -----
func.func @f() {
  %t = async.execute {
  }
  return
}
// 2:8: error: 'async.execute' op region #0 ('bodyRegion') failed to verify constraint: region with 1 blocks
// -----
func.func @f() {
  async.yield
}
// 2:3: error: 'async.yield' op expects parent op 'async.execute'
// -----
func.func @f() {
  async.return
}
// 2:3: error: 'async.return' op expects parent op 'async.func'
// -----
async.func @f() -> !async.token {
  async.yield
}
// 2:3: error: 'async.yield' op expects parent op 'async.execute'
// -----
async.func @f() -> !async.token {
  func.return
}
// 2:3: error: 'func.return' op expects parent op 'func.func'
// -----
async.func @f() {
  return
}
// 1:1: error: 'async.func' op result is expected to be at least of size 1, but got 0
// -----
async.func @f() -> f32 {
  %c = arith.constant 1.0 : f32
  return %c : f32
}
// 1:1: error: 'async.func' op result type must be async value type or async token type, but got 'f32'
// -----
async.func @f() -> (!async.value<f32>, f32) {
  %c = arith.constant 1.0 : f32
  return %c, %c : f32, f32
}
// 1:1: error: 'async.func' op result type must be async value type or async token type, but got 'f32'
// -----
async.func @f() -> !async.group {
  return
}
// 1:1: error: 'async.func' op result type must be async value type or async token type, but got '!async.group'
// -----
async.func @f(%x: i32) -> (!async.token, !async.value<f32>) {
  return %x : i32
}
// 2:3: error: 'async.return' op operand types do not match the types returned from the parent FuncOp
// -----
async.func @f(%x: i32) -> (!async.token, !async.value<f32>) {
  return
}
// 2:3: error: 'async.return' op operand types do not match the types returned from the parent FuncOp
// -----
async.func @f(%x: i32) -> (!async.token, !async.token) {
  return
}
// 1:1: error: 'async.func' op  results' (optional) async token type is expected to appear as the 1st return value, but got 2
// -----
async.func @f(%x: i32) -> (!async.value<i32>, !async.value<i32>, !async.token) {
  return %x, %x : i32, i32
}
// 1:1: error: 'async.func' op  results' (optional) async token type is expected to appear as the 1st return value, but got 3
// -----
async.func @g(%x: i32) -> !async.token {
  return
}
func.func @f(%x: f32) {
  %0 = async.call @g(%x) : (f32) -> !async.token
  return
}
// 5:8: error: 'async.call' op operand type mismatch: expected operand type 'i32', but provided 'f32' for operand number 0
// -----
async.func @g(%x: i32) -> !async.token {
  return
}
func.func @f(%x: i32) {
  %0 = async.call @g() : () -> !async.token
  return
}
// 5:8: error: 'async.call' op incorrect number of operands for callee
// -----
async.func @g(%x: i32) -> !async.token {
  return
}
func.func @f(%x: i32) {
  async.call @g(%x) : (i32) -> ()
  return
}
// 5:3: error: 'async.call' op incorrect number of results for callee
// -----
async.func @g(%x: i32) -> !async.token {
  return
}
func.func @f(%x: i32) {
  %0 = async.call @g(%x) : (i32) -> !async.value<i32>
  return
}
// 5:8: error: 'async.call' op result type mismatch at index 0
// -----
func.func @f(%x: i32) {
  %0 = async.call @nowhere(%x) : (i32) -> !async.value<i32>
  return
}
// 2:8: error: 'async.call' op 'nowhere' does not reference a valid async function
// -----
func.func @f(%x: i32) {
  %0 = "async.call"(%x) : (i32) -> !async.value<i32>
  return
}
// 2:8: error: 'async.call' op requires attribute 'callee'
// -----
func.func @f(%x: !async.value<f32>) {
  %0 = "async.await"(%x) : (!async.value<f32>) -> f64
  return
}
// 2:8: error: 'async.await' op result type 'f64' does not match async value type 'f32'
// -----
func.func @f(%x: !async.token) {
  %0 = "async.await"(%x) : (!async.token) -> f64
  return
}
// 2:8: error: 'async.await' op awaiting on a token must have empty result
// -----
func.func @f(%x: !async.token) {
  %0 = async.await %x : !async.token
  return
}
// 2:3: error: cannot name an operation with no results
// -----
func.func @f(%x: !async.group) {
  async.await %x : !async.group
  return
}
// 2:3: error: 'async.await' op operand #0 must be async value type or async token type, but got '!async.group'
// -----
func.func @f(%x: i32) {
  async.await %x : i32
  return
}
// 2:3: error: 'async.await' op operand #0 must be async value type or async token type, but got 'i32'
// -----
func.func @f(%x: i32) {
  %0 = async.create_group %x : !async.group
  return
}
// 2:27: error: use of value '%x' expects different type than prior uses: 'index' vs 'i32'
// -----
func.func @f(%x: index) {
  %0 = async.create_group %x
  return
}
// 2:29: error: expected ':'
// -----
func.func @f(%x: index, %t: !async.token) {
  %g = async.create_group %x : !async.group
  %0 = async.add_to_group %g, %t : !async.token
  return
}
// 3:27: error: use of value '%g' expects different type than prior uses: '!async.token' vs '!async.group'
// -----
func.func @f(%t: !async.token) {
  async.await_all %t
  return
}
// 2:19: error: use of value '%t' expects different type than prior uses: '!async.group' vs '!async.token'
// -----
func.func @f(%v: !async.value<f32>, %t: !async.token) {
  %t1, %r = async.execute [%v] (%v as %x: !async.value<f32>) -> !async.value<f32> {
    async.yield %x : f32
  }
  return
}
// 2:28: error: use of value '%v' expects different type than prior uses: '!async.token' vs '!async.value<f32>'
// -----
func.func @f(%v: f32, %t: !async.token) {
  %t1 = async.execute (%v as %x: f32) {
    async.yield
  }
  return
}
// 2:9: error: 'async.execute' op operand #0 must be variadic of async value type or async token type, but got 'f32'
// -----
func.func @f(%v: !async.value<f32>, %t: !async.token) {
  %t1 = async.execute (%v as %x: !async.value<f64>) {
    async.yield
  }
  return
}
// 2:24: error: use of value '%v' expects different type than prior uses: '!async.value<f64>' vs '!async.value<f32>'
// -----
func.func @f() {
  %t1 = async.execute -> f32 {
    %c = arith.constant 1.0 : f32
    async.yield %c : f32
  }
  return
}
// 2:3: error: operation defines 2 results but was provided 1 to bind
// -----
func.func @f() {
  %t1, %v = async.execute {
    async.yield
  }
  return
}
// 2:3: error: operation defines 1 results but was provided 2 to bind
// -----
func.func @f() {
  %t1 = async.execute -> !async.value<f32> {
    %c = arith.constant 1.0 : f32
    async.yield %c : f32
  }
  return
}
// 2:3: error: operation defines 2 results but was provided 1 to bind
// -----
func.func @f() {
  %t = async.execute {
    cf.br ^bb1
  ^bb1:
    async.yield
  }
  return
}
// 2:8: error: 'async.execute' op expects region #0 to have 0 or 1 blocks
// -----
func.func @f() {
  %t = async.execute {
    async.yield
    async.yield
  }
  return
}
// 3:5: error: 'async.yield' op must be the last operation in the parent block
// -----
func.func @f(%v: !async.value<index>) {
  %t = "async.execute"(%v) ({
  ^bb0:
    "async.yield"() : () -> ()
  }) {operandSegmentSizes = array<i32: 0, 1>} : (!async.value<index>) -> !async.token
  return
}
// 2:8: error: 'async.execute' op  region control flow edge from parent operands to Region #0: source has 1 operands, but target successor needs 0
// -----
func.func @f(%v: !async.value<index>) {
  %t = "async.execute"(%v) ({
  ^bb0(%x: index):
    "async.yield"() : () -> ()
  }) {operandSegmentSizes = array<i32: 1, 0>} : (!async.value<index>) -> !async.token
  return
}
// 2:8: error: 'async.execute' op operand #0 must be variadic of async token type, but got '!async.value<index>'
// -----
func.func @f(%v: !async.value<index>) {
  %t = "async.execute"(%v) ({
  ^bb0(%x: index):
    "async.yield"() : () -> ()
  }) {operandSegmentSizes = array<i32: 1, 1>} : (!async.value<index>) -> !async.token
  return
}
// 2:8: error: 'async.execute' op operand count (1) does not match with the total size (2) specified in attribute 'operandSegmentSizes'
// -----
func.func @f(%v: !async.value<index>) {
  %t = "async.execute"(%v) ({
  ^bb0(%x: index):
    "async.yield"() : () -> ()
  }) : (!async.value<index>) -> !async.token
  return
}
// 2:8: error: 'async.execute' op operand count (1) does not match with the total size (0) specified in attribute 'operandSegmentSizes'
// -----
func.func @f(%v: !async.value<index>) {
  %t = "async.execute"(%v) <{operandSegmentSizes = array<i32: 0, 1>}> ({
  ^bb0(%x: index):
    "async.yield"() : () -> ()
  }) : (!async.value<index>) -> !async.value<i32>
  return
}
// 2:8: error: 'async.execute' op result #0 must be async token type, but got '!async.value<i32>'
// -----
func.func @f() {
  %t = "async.execute"() <{operandSegmentSizes = array<i32: 0, 0>}> ({
  }) : () -> !async.token
  return
}
// 2:8: error: 'async.execute' op region #0 ('bodyRegion') failed to verify constraint: region with 1 blocks
// -----
func.func @f() {
  "async.execute"() <{operandSegmentSizes = array<i32: 0, 0>}> ({
    "async.yield"() : () -> ()
  }) : () -> ()
  return
}
// 2:3: error: 'async.execute' op expected 1 or more results
// -----
async.func @f(%a: i32) -> !async.token
// 1:1: error: 'async.func' op symbol declaration cannot have public visibility
// -----
async.func private @f(i32)
// 1:1: error: 'async.func' op result is expected to be at least of size 1, but got 0
// -----
async.func @f(%x: i32) -> !async.token {
  %0 = func.call @f(%x) : (i32) -> !async.token
  return
}
// 2:8: error: 'func.call' op 'f' does not reference a valid function
// -----
func.func @f(%x: i32) -> !async.token {
  %0 = async.call @f(%x) : (i32) -> !async.token
  return %0 : !async.token
}
// 2:8: error: 'async.call' op 'f' does not reference a valid async function
// -----
func.func @f(%x: i32) {
  %r = async.execute {
    async.func @g(%y: i32) -> !async.token {
      return
    }
    async.yield
  }
  return
}
// 3:5: error: 'async.func' op symbol's parent must have the SymbolTable trait
// -----
func.func @f(%t: !async.token) {
  async.runtime.add_ref %t : !async.token
  return
}
// 2:3: error: 'async.runtime.add_ref' op requires attribute 'count'
// -----
func.func @f(%t: i32) {
  async.runtime.drop_ref %t {count = 1 : i64} : i32
  return
}
// 2:3: error: 'async.runtime.drop_ref' op operand #0 must be async value type or async token type or async group type, but got 'i32'
// -----
func.func @f(%v: !async.value<f32>, %x: f64) {
  async.runtime.store %x, %v : <f32>
  return
}
// 2:23: error: use of value '%x' expects different type than prior uses: 'f32' vs 'f64'
// -----
func.func @f(%v: !async.value<f32>, %x: f64) {
  "async.runtime.store"(%x, %v) : (f64, !async.value<f32>) -> ()
  return
}
// 2:3: error: 'async.runtime.store' op failed to verify that type of 'value' matches element type of 'storage'
// -----
func.func @f(%v: !async.value<f32>, %x: f64) {
  %0 = "async.runtime.load"(%v) : (!async.value<f32>) -> f64
  return
}
// 2:8: error: 'async.runtime.load' op failed to verify that type of 'value' matches element type of 'storage'
// -----
func.func @f(%v: !async.value<f32>) {
  %0 = async.runtime.load %v : !async.value<f32>
  %1 = async.runtime.load %v : <f64>
  return
}
// 3:27: error: use of value '%v' expects different type than prior uses: '!async.value<f64>' vs '!async.value<f32>'
// -----
func.func @f(%g: !async.group) {
  async.runtime.set_available %g : !async.group
  return
}
// 2:3: error: 'async.runtime.set_available' op operand #0 must be async value type or async token type, but got '!async.group'
// -----
func.func @f(%g: !async.group) {
  async.runtime.set_error %g : !async.group
  return
}
// 2:3: error: 'async.runtime.set_error' op operand #0 must be async value type or async token type, but got '!async.group'
// -----
func.func @f(%g: i32) {
  %0 = async.runtime.is_error %g : i32
  return
}
// 2:8: error: 'async.runtime.is_error' op operand #0 must be async value type or async token type or async group type, but got 'i32'
// -----
func.func @f() {
  %0 = async.runtime.create : !async.group
  return
}
// 2:8: error: 'async.runtime.create' op result #0 must be async value type or async token type, but got '!async.group'
// -----
func.func @f() {
  %0 = async.runtime.create : i32
  return
}
// 2:8: error: 'async.runtime.create' op result #0 must be async value type or async token type, but got 'i32'
// -----
func.func @f(%n: i64) {
  %0 = async.runtime.create_group %n : !async.group
  return
}
// 2:35: error: use of value '%n' expects different type than prior uses: 'index' vs 'i64'
// -----
func.func @f() {
  %0 = async.coro.id
  %1 = async.coro.begin %0
  %2 = async.coro.save %1
  async.coro.suspend %2, ^bb1, ^bb2
^bb1:
  return
^bb2:
  return
}
// 5:36: error: expected ','
// -----
func.func @f() {
  %0 = async.coro.id
  %1 = async.coro.begin %0
  %2 = async.coro.save %0
  async.coro.suspend %2, ^bb1, ^bb2, ^bb2
^bb1:
  return
^bb2:
  return
}
// 4:24: error: use of value '%0' expects different type than prior uses: '!async.coro.handle' vs '!async.coro.id'
// -----
func.func @f() {
  %0 = "async.coro.id"() : () -> !async.coro.id
  %1 = "async.coro.begin"(%0) : (!async.coro.id) -> !async.coro.handle
  %2 = "async.coro.save"(%1) : (!async.coro.handle) -> !async.coro.state
  "async.coro.suspend"(%2)[^bb1] : (!async.coro.state) -> ()
^bb1:
  return
}
// 5:3: error: 'async.coro.suspend' op requires 3 successors but found 1
// -----
func.func @f() {
  %0 = "async.coro.id"() : () -> !async.coro.handle
  return
}
// 2:8: error: 'async.coro.id' op result #0 must be switched-resume coroutine identifier, but got '!async.coro.handle'
// -----
func.func @f() {
  %0 = "async.coro.id"() : () -> ()
  return
}
// 2:3: error: cannot name an operation with no results
// -----
func.func @f(%g: !async.group) {
  "async.runtime.set_available"(%g, %g) : (!async.group, !async.group) -> ()
  return
}
// 2:3: error: 'async.runtime.set_available' op requires a single operand
// -----
func.func @f(%g: !async.group) {
  "async.runtime.set_available"() : () -> ()
  return
}
// 2:3: error: 'async.runtime.set_available' op requires a single operand
// -----
func.func @f(%g: !async.token) {
  %0 = "async.runtime.set_available"(%g) : (!async.token) -> i32
  return
}
// 2:8: error: 'async.runtime.set_available' op requires zero results
// -----
func.func @f(%g: !async.token) {
  "async.runtime.is_error"(%g) : (!async.token) -> ()
  return
}
// 2:3: error: 'async.runtime.is_error' op requires one result
// -----
func.func @f(%g: !async.token) {
  %0 = "async.runtime.is_error"(%g) : (!async.token) -> i32
  return
}
// 2:8: error: 'async.runtime.is_error' op result #0 must be 1-bit signless integer, but got 'i32'
// -----
func.func @f(%g: !async.token) {
  async.foo %g
  return
}
// 2:3: error: custom op 'async.foo' is unknown
// -----
func.func @f(%g: !async.token) {
  "async.foo"(%g) : (!async.token) -> ()
  return
}
// 2:3: error: unregistered operation 'async.foo' found in dialect ('async') that does not allow unknown operations
// -----
func.func @f(%x: i32) -> i64 {
  return %x : i32
}
// 2:3: error: type of return operand 0 ('i32') doesn't match function result type ('i64') in function @f
// -----
func.func @f(%x: i32) -> i64 {
  return
}
// 2:3: error: 'func.return' op has 0 operands, but enclosing function (@f) returns 1
// -----
func.func @f(%x: i32) -> i64 {
  return %x : i64
}
// 2:10: error: use of value '%x' expects different type than prior uses: 'i64' vs 'i32'
// -----
func.func @f(%x: i32) {
  return %y : i64
}
// 2:10: error: use of undeclared SSA value name
// -----
func.func @f(%x: i32) {
  %y = arith.addi %x, %z : i32
  return
}
// 2:23: error: use of undeclared SSA value name
// -----
func.func @f(%x: i32) {
  %x = arith.addi %x, %x : i32
  return
}
// 2:3: error: redefinition of SSA value '%x'
// -----
func.func @f(%x: i32) {
  %y = arith.addi %x, %x : i32
  %y = arith.addi %x, %x : i32
  return
}
// 3:3: error: redefinition of SSA value '%y'
// -----
func.func @f(%x: i32) {
  %t = async.execute {
    %y = arith.addi %x, %x : i32
    async.yield
  }
  %z = arith.addi %x, %y : i32
  return
}
// 6:23: error: use of undeclared SSA value name
// -----
func.func @f(%x: i32) {
  %t = async.execute {
    %x = arith.constant 1 : i32
    async.yield
  }
  return
}
// 3:5: error: redefinition of SSA value '%x'
// -----
func.func @f(%x: i32) {
  return
}
func.func @f(%x: i32) {
  return
}
// 4:1: error: redefinition of symbol named 'f'
// -----
func.func @f(%x: i32) {
  call @g(%x) : (i32) -> ()
  return
}
// 2:3: error: 'func.call' op 'g' does not reference a valid function
// -----
func.func private @g(i64)
func.func @f(%x: i32) {
  call @g(%x) : (i32) -> ()
  return
}
// 3:3: error: 'func.call' op operand type mismatch: expected operand type 'i64', but provided 'i32' for operand number 0
// -----
func.func private @g(i32) -> i32
func.func @f(%x: i32) {
  call @g(%x) : (i32) -> ()
  return
}
// 3:3: error: 'func.call' op incorrect number of results for callee
// -----
func.func private @g(i32) -> i32
func.func @f(%x: i32) {
  %0 = call @g(%x) : (i32) -> i64
  return
}
// 3:8: error: 'func.call' op result type mismatch at index 0
// -----
func.func private @g(i32) -> i32
func.func @f(%x: i32) {
  %0 = call @g() : () -> i32
  return
}
// 3:8: error: 'func.call' op incorrect number of operands for callee
// -----
func.func private @g(i32) -> i32
func.func @f(%x: i32) {
  %0:2 = call @g(%x) : (i32) -> i32
  return
}
// 3:3: error: operation defines 1 results but was provided 2 to bind
// -----
func.func @f(%x: i32) {
  return
  return
}
// 2:3: error: 'func.return' op must be the last operation in the parent block
// -----
func.func @f(%c: i1, %x: i32) {
  cf.br ^a(%x : i32)
^a(%y: i64):
  return
}
// 2:3: error: type mismatch for bb argument #0 of successor #0
// -----
func.func @f(%c: i1, %x: i32) {
  cf.br ^a(%x : i32)
^a:
  return
}
// 2:3: error: branch has 1 operands for successor #0, but target block has 0
// -----
func.func @f(%c: i1, %x: i32) {
  cf.br ^a
^a(%y: i64):
  return
}
// 2:3: error: branch has 0 operands for successor #0, but target block has 1
// -----
func.func @f(%c: i32, %x: i32) {
  cf.cond_br %c, ^a, ^a
^a:
  return
}
// 2:14: error: use of value '%c' expects different type than prior uses: 'i1' vs 'i32'
// -----
func.func @f(%c: i1) {
  cf.assert %c, "message"
  cf.assert %c
  return
}
// 3:15: error: expected ','
// -----
func.func @f(%c: i32) {
  cf.assert %c, "message"
  return
}
// 2:13: error: use of value '%c' expects different type than prior uses: 'i1' vs 'i32'
// -----
func.func @f(%x: i32, %y: i64) {
  %z = arith.addi %x, %y : i32
  return
}
// 2:23: error: use of value '%y' expects different type than prior uses: 'i32' vs 'i64'
// -----
func.func @f(%x: f32) {
  %z = arith.addi %x, %x : f32
  return
}
// 2:8: error: 'arith.addi' op operand #0 must be signless-integer-like, but got 'f32'
// -----
func.func @f(%x: i32) {
  %z = arith.addf %x, %x : i32
  return
}
// 2:8: error: 'arith.addf' op operand #0 must be floating-point-like, but got 'i32'
// -----
func.func @f(%x: i32) {
  %z = arith.constant 1.0 : i32
  return
}
// 2:23: error: floating point value not valid for specified type
// -----
func.func @f(%x: i32) {
  %z = arith.constant 1 : f32
  return
}
// 2:23: error: unexpected decimal integer literal for a floating point value
// -----
func.func @f(%x: i32) {
  %z = arith.constant 300 : i8
  return
}
// 2:23: error: integer constant out of range for attribute
// -----
func.func @f(%x: i32) {
  %z = arith.extsi %x : i32 to i16
  return
}
// 2:8: error: 'arith.extsi' op operand type 'i32' and result type 'i16' are cast incompatible
// -----
func.func @f(%x: i32) {
  %z = arith.trunci %x : i32 to i64
  return
}
// 2:8: error: 'arith.trunci' op operand type 'i32' and result type 'i64' are cast incompatible
// -----
func.func @f(%x: i32) {
  %z = arith.index_cast %x : i32 to i64
  return
}
// 2:8: error: 'arith.index_cast' op operand type 'i32' and result type 'i64' are cast incompatible
// -----
func.func @f(%x: i32) {
  %z = arith.sitofp %x : i32 to i64
  return
}
// 2:8: error: 'arith.sitofp' op result #0 must be floating-point-like, but got 'i64'
// -----
func.func @f(%x: i32) {
  %z = arith.bitcast %x : i32 to f64
  return
}
// 2:8: error: 'arith.bitcast' op operand type 'i32' and result type 'f64' are cast incompatible
// -----
func.func @f(%x: i32, %c: i32) {
  %z = arith.select %c, %x, %x : i32
  return
}
// 2:21: error: use of value '%c' expects different type than prior uses: 'i1' vs 'i32'
// -----
func.func @f(%a: none) {
  "async.coro.begin"(%a) : (none) -> !async.coro.handle
  return
}
// 2:3: error: 'async.coro.begin' op operand #0 must be switched-resume coroutine identifier, but got 'none'
// -----
func.func @f(%a: none) {
  "async.coro.save"(%a) : (none) -> !async.coro.state
  return
}
// 2:3: error: 'async.coro.save' op operand #0 must be coroutine handle, but got 'none'
// -----
func.func @f(%a: none) {
  "async.coro.suspend"(%a)[^a,^a,^a] : (none) -> ()
^a:
  return
}
// 2:3: error: 'async.coro.suspend' op operand #0 must be saved coroutine state, but got 'none'
// -----
func.func @f(%a: none) {
  "async.await_all"(%a) : (none) -> ()
  return
}
// 2:3: error: 'async.await_all' op operand #0 must be async group type, but got 'none'
// -----
func.func @f(%a: none, %v: !async.value<none>) {
  "async.runtime.store"(%a, %a) : (none, none) -> ()
  return
}
// 2:3: error: 'async.runtime.store' op operand #1 must be async value type, but got 'none'
// -----
func.func @f(%a: none, %v: !async.value<none>) {
  "arith.addi"(%a, %a, %a) : (none, none, none) -> none
  return
}
// 2:3: error: 'arith.addi' op expected 2 operands, but found 3
// -----
func.func @f(%a: none, %v: !async.value<none>) {
  "arith.addi"(%a, %a) : (none, none) -> (none, none)
  return
}
// 2:3: error: 'arith.addi' op requires one result
// -----
func.func @f(%a: none, %v: !async.value<none>) {
  "arith.cmpi"(%a, %a) <{predicate = 0 : i64}> : (none, none) -> (i1)
  return
}
// 2:3: error: 'arith.cmpi' op operand #0 must be signless-integer-like, but got 'none'
// -----
func.func @f(%a: none, %v: i32) {
  "arith.cmpi"(%v, %v) <{predicate = 0 : i64}> : (i32, i32) -> (i32)
  return
}
// 2:3: error: 'arith.cmpi' op result #0 must be bool-like, but got 'i32'
// -----
func.func @f(%a: none, %v: i32) {
  "arith.select"(%v, %v, %v) : (i32, i32, i32) -> (i32)
  return
}
// 2:3: error: 'arith.select' op operand #0 must be bool-like, but got 'i32'
// -----
func.func @f(%a: none, %v: i32) {
  "arith.extsi"(%a) : (none) -> (i32)
  return
}
// 2:3: error: 'arith.extsi' op operand #0 must be signless-fixed-width-integer-like, but got 'none'
// -----
func.func @f(%a: none, %v: i32) {
  "arith.index_cast"(%a) : (none) -> (i32)
  return
}
// 2:3: error: 'arith.index_cast' op operand #0 must be signless-integer-like or memref of signless-integer, but got 'none'
// -----
func.func @f(%a: none, %v: i32) {
  "arith.sitofp"(%v) : (i32) -> (i32)
  return
}
// 2:3: error: 'arith.sitofp' op result #0 must be floating-point-like, but got 'i32'
// -----
func.func @f(%a: none, %v: i32) {
  "arith.bitcast"(%a) : (none) -> (i32)
  return
}
// 2:3: error: 'arith.bitcast' op operand #0 must be signless-integer-or-float-like or memref of signless-integer or float, but got 'none'
// -----
func.func @f(%a: none, %v: i32) {
  "math.sqrt"(%v) : (i32) -> (i32)
  return
}
// 2:3: error: 'math.sqrt' op operand #0 must be floating-point-like, but got 'i32'
// -----
func.func @f(%a: none, %v: f32) {
  "math.absi"(%v) : (f32) -> (f32)
  return
}
// 2:3: error: 'math.absi' op operand #0 must be signless-integer-like, but got 'f32'
// -----
func.func @f(%a: none, %v: f32) {
  "memref.load"(%v) : (f32) -> (f32)
  return
}
// 2:3: error: 'memref.load' op operand #0 must be memref of any type values, but got 'f32'
// -----
func.func @f(%a: none, %v: memref<2xf32>, %i: i32) {
  "memref.load"(%v, %i) : (memref<2xf32>, i32) -> (f32)
  return
}
// 2:3: error: 'memref.load' op operand #1 must be variadic of index, but got 'i32'
// -----
func.func @f(%i: index) {
  %0 = memref.alloc() : memref<?xf32>
  return
}
// 2:8: error: 'memref.alloc' op dimension operand count does not equal memref dynamic dimension count
// -----
func.func @f(%i: index) {
  %0 = memref.alloc(%i) : memref<3xf32>
  return
}
// 2:8: error: 'memref.alloc' op dimension operand count does not equal memref dynamic dimension count
// -----
func.func @f(%i: index) {
  %0 = memref.alloca(%i) : memref<3xf32>
  return
}
// 2:8: error: 'memref.alloca' op dimension operand count does not equal memref dynamic dimension count
// -----
func.func @f(%i: index) {
  %0 = memref.get_global @g : memref<3xf32>
  return
}
// 2:8: error: 'memref.get_global' op 'g' does not reference a valid global memref
// -----
memref.global @g : memref<3xf64>
func.func @f(%i: index) {
  %0 = memref.get_global @g : memref<3xf32>
  return
}
// 3:8: error: 'memref.get_global' op result type 'memref<3xf32>' does not match type 'memref<3xf64>' of the global memref @g
// -----
func.func @f(%i: index, %m: memref<3xf32>) {
  %0 = memref.cast %m : memref<3xf32> to memref<4xf32>
  return
}
// 2:8: error: 'memref.cast' op operand type 'memref<3xf32>' and result type 'memref<4xf32>' are cast incompatible
// -----
func.func @f(%i: i32, %m: memref<3xf32>) {
  %0 = memref.dim %m, %i : memref<3xf32>
  return
}
// 2:23: error: use of value '%i' expects different type than prior uses: 'index' vs 'i32'
// -----
func.func @f(%i: i32) {
  scf.for %j = %i to %i step %i {
  }
  return
}
// 2:16: error: use of value '%i' expects different type than prior uses: 'index' vs 'i32'
// -----
func.func @f(%i: i1, %x: f32) {
  %r = scf.if %i -> f32 {
    scf.yield %x : f32
  }
  return
}
// 2:8: error: 'scf.if' op must have an else block if defining values
// -----
func.func @f(%i: i1, %x: f32) {
  %r = scf.if %i -> f32 {
    scf.yield %x : f32
  } else {
    scf.yield %i : i1
  }
  return
}
// 2:8: error: 'scf.if' op  along control flow edge from Region #1 to parent results: source type #0 'i1' should match input type #0 'f32'
// -----
func.func @f(%i: i1, %x: f32) {
  %r = scf.if %i -> f32 {
    scf.yield %x : f32
  } else {
  }
  return
}
// 2:8: error: 'scf.if' op  region control flow edge from Region #1 to parent results: source has 0 operands, but target successor needs 1
// -----
func.func @f(%i: f32, %x: f32) {
  scf.if %i {
  }
  return
}
// 2:10: error: use of value '%i' expects different type than prior uses: 'i1' vs 'f32'
// -----
func.func @f(%i: index, %x: f32) {
  scf.yield %x : f32
}
// 2:3: error: 'scf.yield' op expects parent op to be one of 'scf.execute_region, scf.for, scf.if, scf.index_switch, scf.while'
// -----
func.func @f(%i: index, %x: f32) {
  scf.while : () -> () {
    scf.yield
  } do {
    scf.yield
  }
  return
}
// 2:3: error: 'scf.while' op expects the 'before' region to terminate with 'scf.condition'
// -----
func.func @f(%c: i1) {
  cf.cond_br %c, ^a
^a:
  return
}
// 2:20: error: expected ','
// -----
func.func @f(%c: i32)
{
^bb0(%d: i32):
  return
}
// 3:1: error: invalid block name in region with named arguments
// -----
func.func @f(%c: i32) -> i32 {
  %c = arith.constant 1 : i32
  return %c : i32
// 2:3: error: redefinition of SSA value '%c'
// -----
func.func @f(%c: i32) -> i32 {
  return %c
}
// 2:12: error: expected ':'
// -----
func.func @f(%c: i32) {
  arith.addi %c, %c : i32
  return %c
}
// 3:12: error: expected ':'
// -----
func.func @f(%c: i32) {
  %x = arith.addi %c, %c
  return
}
// 2:25: error: expected ':'
// -----
func.func @f(%c: i32) {
  %x, %y = arith.addi %c, %c : i32
  return
}
// 2:3: error: operation defines 1 results but was provided 2 to bind
// -----
func.func @f(%t: !async.value<i32>) {
  %s = async.execute (%t as %x: i32) { async.yield }
  return
}
// 2:23: error: use of value '%t' expects different type than prior uses: 'i32' vs '!async.value<i32>'
// -----
func.func @f(%t: !async.value<i32>) {
  %x = async.await %t : !async.value<i64>
  return
}
// 2:20: error: use of value '%t' expects different type than prior uses: '!async.value<i64>' vs '!async.value<i32>'
// -----
func.func @f() {
  %x = async.await %nothing : !async.value<i64>
  return
}
// 2:20: error: use of undeclared SSA value name
// -----
async.func @f() -> !async.value<i64> {
  %c = arith.constant 1 : i64
  async.return %c
}
// 3:18: error: expected ':'
// -----
async.func @f() -> !async.value<i64> {
  %c = arith.constant 1 : i64
  return %c : i32
}
// 3:10: error: use of value '%c' expects different type than prior uses: 'i32' vs 'i64'
// -----
func.func private @f(!async.value)
// 1:34: error: expected '<'
// 1:29: error: failed to parse async value type
// -----
func.func private @f(!async.value<f32, f32>)
// 1:38: error: expected '>'
// 1:29: error: failed to parse async value type
// -----
func.func private @f(!async.value<!async.foo>)
// 1:42: error: unknown  type `foo` in dialect `async`
// 1:29: error: failed to parse async value type
// -----
func.func @f() {
  %t = "async.execute"() {operandSegmentSizes = array<i32: 0, 0>} : () -> !async.token
  return
}
// 2:8: error: 'async.execute' op requires one region
// -----
func.func @f() {
  %m = memref.alloc() : memref<4x!async.token>
  return
}
// 2:34: error: invalid memref element type
// -----
async.func @f() -> !async.value<i32> {
  %c = arith.constant 1 : i32
  return %c : i32
}
func.func @a() {
  %t = async.call @f() : () -> i32
  return
}
// 6:8: error: 'async.call' op result #0 must be variadic of async value type or async token type, but got 'i32'
