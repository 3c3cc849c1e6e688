"""Rows of files, of whatever format."""

from kernelm.data.files.scan import scan

__all__ = ["scan"]
