"""Measurements, by one program: python -m benchmarks."""
