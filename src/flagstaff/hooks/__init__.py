"""Messages to others about changes: webhooks in the Standard Webhooks form, and messages for chats."""
