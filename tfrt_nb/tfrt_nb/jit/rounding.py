"""Rounding to bf16, for processors without an instruction for it: LLVM calls these functions, libgcc has none before 13."""

from __future__ import annotations

TO_BFLOAT = """
; To the nearest, a tie to the even one; the lower half of a NaN may be all that makes it one, so it gets the quiet bit.
define hidden bfloat @__truncsfbf2(float %x) {
  %bits = bitcast float %x to i32
  %upper = lshr i32 %bits, 16
  %is_odd = and i32 %upper, 1
  %half = add i32 %is_odd, 32767
  %sum = add i32 %bits, %half
  %rounded = lshr i32 %sum, 16
  %quiet = or i32 %upper, 64
  %is_nan = fcmp uno float %x, 0.0
  %chosen = select i1 %is_nan, i32 %quiet, i32 %rounded
  %word = trunc i32 %chosen to i16
  %result = bitcast i16 %word to bfloat
  ret bfloat %result
}

; First to odd in f32: towards 0, and the last bit is set where that is inexact.  So the second rounding sees on which
; side of a tie the number is.
define hidden bfloat @__truncdfbf2(double %x) {
  %near = fptrunc double %x to float
  %back = fpext float %near to double
  %is_exact = fcmp ueq double %back, %x
  %bits = bitcast float %near to i32
  %size = call double @llvm.fabs.f64(double %x)
  %near_size = call double @llvm.fabs.f64(double %back)
  %is_larger = fcmp ogt double %near_size, %size
  %excess = zext i1 %is_larger to i32
  %towards_0 = sub i32 %bits, %excess
  %odd = or i32 %towards_0, 1
  %chosen = select i1 %is_exact, i32 %bits, i32 %odd
  %single = bitcast i32 %chosen to float
  %result = call bfloat @__truncsfbf2(float %single)
  ret bfloat %result
}

declare double @llvm.fabs.f64(double)
"""
"""A module for each that has numbers of this type."""
