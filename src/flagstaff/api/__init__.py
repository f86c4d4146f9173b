"""Parts that all operations of the management API share: callers, ids, tags, idempotency keys, schemas."""
