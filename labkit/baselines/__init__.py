"""Methods that learn little or nothing from labels, which all others have to beat; and transforms of vectors."""
