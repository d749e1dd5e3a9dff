"""Tables of facts, each with its source and date, and the one reader for them."""
