"""Comparing methods on your own data: `doctor` reads the data first, and says what is wrong with it before anything is
trained."""
