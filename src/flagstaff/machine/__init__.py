"""The machine: cores, descriptors, disk space and load."""
