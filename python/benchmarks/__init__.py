"""Measurements behind the claims of fewlabel: quality, speed, memory and size, each against its peers in the same run.

`make bench BENCH=name` runs one of them; without a name it lists all. `FEWLABEL_DATA` names the folder with the data
sets.
"""
