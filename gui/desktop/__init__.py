"""The desktop: captures, logic-analyzer files and live cards on one time line. Needs the extra ``desktop``."""
