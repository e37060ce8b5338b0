"""Search by meaning, for those who turned it on: `asking` gets the vector of a question in time, `hybrid` fuses the lists
by words and by meaning, `managing` turns vectors on and off and builds them. Nothing here is imported while they are off.
"""
