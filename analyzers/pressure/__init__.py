"""When senders waited for credit, and for what: the analysis ``pressure``."""
