"""Every decoder of libsigrokdecode, each stack of them in a worker process of its own."""
