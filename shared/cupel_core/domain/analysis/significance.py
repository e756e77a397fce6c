from enum import StrEnum


class SignificanceTest(StrEnum):
    PAIRED_T = "PAIRED_T"
    SIGN = "SIGN_MID_P"
    """The test for decisions, costs and times whose differences hardly vary between scenarios."""
    MCNEMAR = "MCNEMAR_MID_P"
    """The test for rates; repeats of a scenario count as fewer pairs."""
    WELCH_T = "WELCH_T"
    FISHER = "FISHER_EXACT"
