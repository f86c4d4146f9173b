"""The statistics of guards and results. Pure: no I/O, no clock, no library.

Everything may be looked at as often as one likes. The chance of ever acting on a harmless flag stays bounded, because
each evidence is a nonnegative supermartingale that begins at 1 if the flag is harmless (an e-process). By Ville's
inequality (1939), the chance that it ever reaches 1/alpha is at most alpha. See Ramdas, Grünwald, Vovk and Shafer,
"Game-theoretic statistics and safe anytime-valid inference" (2023).
"""
