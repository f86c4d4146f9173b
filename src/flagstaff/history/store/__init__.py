"""The evaluation history in the database: written in batches, packed into segments, read page by page."""
