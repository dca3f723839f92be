"""Measurements behind the claims of fewlabel: quality, speed, memory and size, each against its peers in the same run.

`python -m benchmarks.run` in the folder `python` runs groups of them, `benchmarks.paired` compares two builds,
`benchmarks.install` measures a wheel. `FEWLABEL_DATA` names the folder with the data sets.
"""
