"""P-thought: an encoder reads a sentence into a vector, from which two decoders write it and its paraphrase."""
