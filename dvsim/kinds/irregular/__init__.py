"""Irregular programs: the kind ``irregular``, many small messages from every node to every other.

spec.py         what a file holds
programs.py     what each program does with an element
link.py         their time over a network that software drives, with a card of kind ``words``
vortex.py       their time over a Data Vortex, with a card of kind ``vortex``
sensitivity.py  how much that depends on what nobody could verify
kind.py         what dvsim asks
"""
