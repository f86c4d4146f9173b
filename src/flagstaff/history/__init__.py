"""The evaluation history: buffered, stored, counted, read, kept small and sent on."""
