"""Connections before their requests reach an application: accepting them, their bounds, their parser and refusals."""
