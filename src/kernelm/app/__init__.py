"""For a person with a file and a question: comparisons, reports, commands."""
