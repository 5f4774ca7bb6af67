"""Serial links: 8b/10b lanes, their bonding into 64-bit words, and the link's packets and credits."""
