"""What all operations of the management API share: who calls, ids, tags, idempotency keys, schemas."""
