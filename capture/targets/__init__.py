"""Ways to the registers of a device: one file a transport, the servers, and what all must do."""
