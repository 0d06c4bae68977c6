// parallel-for: num-workers=2 min-task-size=1
func.func @main() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c5 = arith.constant 5 : index
  %zf = arith.constant 0.0 : f32
  %zi = arith.constant 0 : i64
  %half = arith.constant 0.5 : f32
  %f, %n = scf.parallel (%i) = (%c0) to (%c5) step (%c1) init (%zf, %zi) -> (f32, i64) {
    %inner = scf.parallel (%j, %k) = (%c0, %c1) to (%c2, %c2) step (%c1, %c1) init (%zi) -> i64 {
      %x = arith.index_cast %j : index to i64
      %y = arith.index_cast %k : index to i64
      %s = arith.addi %x, %y : i64
      scf.reduce(%s : i64) {
      ^bb0(%a: i64, %b: i64):
        %m = arith.addi %a, %b : i64
        scf.reduce.return %m : i64
      }
    }
    %e = arith.subi %inner, %zi : i64
    %big = arith.maxsi %e, %zi : i64
    scf.reduce(%half, %big : f32, i64) {
    ^bb0(%a: f32, %b: f32):
      %m = arith.addf %a, %b : f32
      scf.reduce.return %m : f32
    }, {
    ^bb0(%a: i64, %b: i64):
      %m = arith.addi %inner, %b : i64
      scf.reduce.return %m : i64
    }
  }
  return
}