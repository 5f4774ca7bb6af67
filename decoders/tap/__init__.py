"""Records of a tap of any card to packets: beats, bytes, times, and what is wrong with them."""
