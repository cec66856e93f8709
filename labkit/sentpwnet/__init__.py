"""SentPWNet: every pair of a batch gets a locality weight."""
