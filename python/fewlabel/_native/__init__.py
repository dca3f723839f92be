"""The native library: loading and calling it, running a fit, and computing scores with or without it."""
