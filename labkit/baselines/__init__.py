"""Methods that learn little or nothing from labels, which every other one has to beat; and transforms of their vectors."""
