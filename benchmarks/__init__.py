"""What tfrt-nb costs, beside what others cost for the same thing in the same run: `make bench`.

Read `measure` (how), `programs` (what runs), `peers` (what it is compared with), `cases` (`starts`: calls from Python), `quick`.
"""
