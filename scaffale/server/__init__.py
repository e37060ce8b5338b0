"""The faces. Each validates what it is given, calls one verb of a hall and renders the answer; nothing else."""
