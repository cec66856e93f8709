"""SentPWNet: every pair in a batch gets a locality weight."""
