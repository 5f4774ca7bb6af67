"""What each witness of a capture says of a claim, and which names stand up to all of them."""
