"""Many runs for one answer.

sweeps/  many points of one scenario: which, by whom, kept where; sensitivity
limit/   how far a key can be pushed until a criterion fails: bisection with confidence
"""
