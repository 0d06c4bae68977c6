"""The kernels of each dialect as a table: `signatures` says what a row is; `tfrt`, `tfrt_test`, `tensor`."""
