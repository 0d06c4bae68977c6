// pipeline: builtin.module(convert-async-to-llvm)
func.func private @u(i64)
func.func private @b(i1)
func.func private @x(index)
func.func private @f(f64)
func.func @f_(%x: i64, %y: i64, %i: index, %p: f64, %q: i1, %r: i32) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c7 = arith.constant 7 : i64
  %cm = arith.constant -1 : i64
  %f0 = arith.constant 0.0 : f64
  %f1 = arith.constant 1.0 : f64
  %f3 = arith.constant 3.0 : f64
  %true = arith.constant true
  %false = arith.constant false
  %1 = arith.divsi %x, %c1 : i64
  %2 = arith.divsi %c7, %c0 : i64
  %3 = arith.divsi %c7, %c7 : i64
  %4 = arith.divui %x, %c1 : i64
  %5 = arith.remsi %x, %c1 : i64
  %6 = arith.remsi %c7, %c7 : i64
  %7 = arith.remui %x, %c1 : i64
  %8 = arith.ceildivsi %c7, %c7 : i64
  %9 = arith.floordivsi %x, %c1 : i64
  %10 = arith.andi %x, %cm : i64
  %11 = arith.ori %x, %c0 : i64
  %12 = arith.ori %x, %cm : i64
  %13 = arith.xori %x, %c0 : i64
  %14 = arith.xori %x, %x : i64
  %15 = arith.andi %x, %x : i64
  %16 = arith.shli %c1, %c7 : i64
  %17 = arith.shli %x, %c0 : i64
  %18 = arith.shrsi %x, %c0 : i64
  %19 = arith.shrui %c7, %c1 : i64
  %20 = arith.maxsi %x, %x : i64
  %21 = arith.minsi %c7, %x : i64
  %22 = arith.subi %x, %c0 : i64
  %23 = arith.subi %c1, %x : i64
  %24 = arith.muli %x, %c1 : i64
  %25 = arith.addf %p, %f0 : f64
  %26 = arith.mulf %p, %f1 : f64
  %27 = arith.divf %p, %f1 : f64
  %28 = arith.subf %p, %f0 : f64
  %29 = arith.divf %f1, %f3 : f64
  %30 = arith.negf %f3 : f64
  %31 = arith.maximumf %f1, %f3 : f64
  %32 = arith.cmpf olt, %f1, %f3 : f64
  %33 = arith.sitofp %c7 : i64 to f64
  %34 = arith.fptosi %f3 : f64 to i64
  %35 = arith.extsi %r : i32 to i64
  %36 = arith.trunci %35 : i64 to i32
  %37 = arith.trunci %c7 : i64 to i32
  %38 = arith.truncf %f3 : f64 to f32
  %39 = arith.index_cast %c7 : i64 to index
  %40 = arith.cmpi slt, %x, %x : i64
  %41 = arith.cmpi ult, %c1, %c7 : i64
  %42 = arith.select %q, %true, %false : i1
  %43 = arith.select %q, %c7, %c1 : i64
  %44 = arith.cmpi eq, %q, %true : i1
  %45 = arith.cmpi ne, %q, %false : i1
  %46 = arith.xori %q, %true : i1
  %47 = arith.addi %23, %x : i64
  %48 = arith.subi %47, %x : i64
  %49 = arith.addi %48, %x : i64
  %51 = arith.extsi %r : i32 to i64
  %52 = arith.extsi %true : i1 to i64
  %53 = arith.extf %38 : f32 to f64
  %54 = arith.maxui %c1, %c7 : i64
  %55 = arith.remsi %c7, %c0 : i64
  %56 = arith.floordivsi %c7, %cm : i64
  %57 = arith.ceildivui %c7, %c7 : i64
  %58 = arith.cmpf ogt, %f3, %p : f64
  %59 = arith.minimumf %f1, %p : f64
  %60 = arith.addf %f1, %p : f64
  %61 = arith.uitofp %c7 : i64 to f64
  %62 = arith.fptoui %f3 : f64 to i64
  %63 = arith.remf %f3, %f1 : f64
  %64 = arith.maxnumf %f1, %f3 : f64
  %65 = arith.select %true, %x, %y : i64
  %66 = arith.addi %23, %c0 : i64
  return
}
