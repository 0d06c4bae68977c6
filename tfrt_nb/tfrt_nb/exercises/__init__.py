"""Exercises that check an answer and respond to a mistake with a hint.

The package builds on `programs` and `schedules`. `answer` reads a learner's text in one of three
ways: as a Python literal, as a host or async program, or as Python code to run. `orders` lists the
orders of prints that a program allows. `exercise` contains the decorator, the registry, and the
grading of one answer or of a notebook. The exercises of the tutorials are in `tfrt_nb.lessons`.
"""
