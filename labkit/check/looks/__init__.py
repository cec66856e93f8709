"""Who looks at the answers: a module a notebook, a function an exercise, a complaint a typical mistake."""
