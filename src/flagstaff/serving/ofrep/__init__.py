"""OFREP, the OpenFeature Remote Evaluation Protocol, version 0.3."""
