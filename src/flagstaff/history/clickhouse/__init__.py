"""ClickHouse: its HTTP interface, the table for evaluations, and the rows that are sent to it."""
