"""Arithmetic only: no SQL, no files, no clock, no logging. It imports values and nothing else."""
