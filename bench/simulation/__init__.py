"""A simulation of how a toggle reaches many instances, with measured delays as input."""
