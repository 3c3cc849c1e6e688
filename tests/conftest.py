"""What all tests share."""

from hypothesis import settings

# Times on a shared machine say nothing about a test.
settings.register_profile("kernelm", deadline=None)
settings.load_profile("kernelm")
