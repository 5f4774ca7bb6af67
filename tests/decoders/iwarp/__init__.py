"""iWARP streams made and broken by code that shares nothing with the decoder, and the decoder's tests on them."""
