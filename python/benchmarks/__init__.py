"""Measurements behind the claims of fewlabel: quality, speed, memory and size, each against its peers in the same run.

Run `python -m benchmarks.run` in the folder `python`. `FEWLABEL_DATA` names the folder with the data sets.
"""
