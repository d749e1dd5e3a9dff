"""What rules look at: one class for each kind of thing, found in a document and read with care for tokens."""
