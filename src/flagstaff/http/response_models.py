"""The base of the models that describe responses."""

from pydantic import BaseModel, ConfigDict


class ResponseModel(BaseModel):
    """Describes a response, for the OpenAPI document alone: responses are encoded by msgspec, from dictionaries.

    So nothing validates with it, and Pydantic builds it only when the document is made, not at each start. In a process
    that serves, `assembly/lean_imports.py` puts one empty class in the place of all these models, so do not use them
    for anything else.
    """

    model_config = ConfigDict(defer_build=True)
