"""Whose a freeze is: what this host knows of recordings, who guards which card, and what may be given up."""
