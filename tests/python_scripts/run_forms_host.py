# "With a HostContext first, the rest is read as before: run(host, function, arguments), all of it also by keyword".
import tfrt_nb as tfrt

p = tfrt.Program(
    """
func.func @main(%a: i32, %b: i32) -> i32 {
  %s = tfrt.sub.i32 %a, %b
  tfrt.return %s : i32
}
""".replace("tfrt.sub.i32", "tfrt.minus.i32")
)
with tfrt.HostContext("s") as h:
    for make in (
        lambda: p.run(h, "main", [7, 2]),
        lambda: p.run(h, arguments=[7, 2]),
        lambda: p.run(host=h, function="main", arguments=(7, 2)),
        lambda: p.run(7, 2, host=h),
        lambda: p.run(h, "main", arguments=[7, 2]),
        lambda: p.run(7, 2, function="main", host=h),
        lambda: p.main(7, 2, host=h, timeout=5),
    ):
        print(make().result(5))
for bad in (
    lambda: p.run(7, 2, arguments=[7, 2]),
    lambda: p.run(7, b=2),
    lambda: p.run(7, 2, hots=3),
    lambda: p.run(7, 2, function="nope"),
    lambda: p.run(7, 2, host="mstd"),
    lambda: p.run(7, 2, function=3),
):
    try:
        bad().result(5)
        print("taken")
    except (TypeError, ValueError, AttributeError, tfrt.TfrtError) as e:
        print(type(e).__name__)
