"""SentPWNet: every pair of a batch gets a locality weight. `method` trains and encodes, `batches` makes batches of any
corpus, `view` looks at pairs and their weights, `wording` says in a sentence why a pair weighs what it weighs."""
