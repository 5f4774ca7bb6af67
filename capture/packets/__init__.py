"""Packets as network tools capture them: pcap and pcapng, from a file, a pipe or an interface."""
