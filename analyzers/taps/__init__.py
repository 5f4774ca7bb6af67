"""What crossed two taps or stands in two columns, word by word: alignment, and the analysis ``taps``."""
