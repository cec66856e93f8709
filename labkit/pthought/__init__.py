"""P-thought: an encoder maps a sentence to a vector, from which two decoders write the sentence and a paraphrase."""
