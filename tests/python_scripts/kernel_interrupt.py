# A KeyboardInterrupt of a kernel cancels its run, reaches the one who waits, and leaves the host alive.
import tfrt_nb as tfrt


@tfrt.kernel("ki.k")
def k(x: int) -> int:
    raise KeyboardInterrupt


@tfrt.kernel("ki.b", blocking=True)
def b(x: int) -> int:
    raise KeyboardInterrupt


for n in "kb":
    p = tfrt.Program(
        f'func.func @main(%x: i32, %z: i32) -> (i32, i32) {{\n  %y = "ki.{n}"(%x) : (i32) -> i32\n  tfrt.return %y, %z : i32, i32\n}}'
    )
    box = tfrt.unavailable()
    run = p.run(1, box)
    try:
        run.result(9)
        print("none")
    except KeyboardInterrupt:
        print("KeyboardInterrupt")
    print(run.done(), list(run)[1].cancelled())
print(tfrt.call("tfrt.add.i32", 1, 1).result(9))
