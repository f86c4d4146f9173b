"""What tests stand on: real servers, fresh databases, a settable clock."""
