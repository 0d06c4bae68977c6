func.func @main(%y: i1) -> i1 {
  %z = math.ipowi %y, %y : i1
  return %z : i1
}
