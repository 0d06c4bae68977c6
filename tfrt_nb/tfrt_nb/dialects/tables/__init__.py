"""The kernels of each dialect as tables.

`signatures` defines a row; the tables are `tfrt`, `tfrt_test`, and `tensor`.
"""
