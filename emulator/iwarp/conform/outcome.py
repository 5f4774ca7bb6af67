"""What can come of a requirement, and the roles a peer can have."""

PASS, FAIL, INCONCLUSIVE = "pass", "fail", "inconclusive"
ANY, RESPONDER, INITIATOR = "any", "responder", "initiator"


class FailedError(Exception):
    """The peer broke the requirement; the text says how."""


class UnclearError(Exception):
    """It could not be found out; the text says why."""
