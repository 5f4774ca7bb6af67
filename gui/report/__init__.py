"""The explanation of a capture as one HTML file that needs nothing else."""
