"""What instances tell each other about the hits of clients, through Valkey or through memory that processes share."""
