"""The native library: found, loaded and called; one fit in it; scores of rows with it or without."""
