"""Checks the conditions in a request."""

import asyncio
from collections.abc import Sequence

from flagstaff.conditions.compiled_conditions import check_conditions
from flagstaff.conditions.conditions import Condition, InvalidConditionError
from flagstaff.values.errors import invalid_field


async def check_given_conditions(conditions: Sequence[Condition]) -> tuple[Condition, ...]:
    """Return conditions as they are stored; raises Error INVALID, with the field's path, for one that cannot be."""
    if not conditions:
        return ()
    try:
        return await asyncio.to_thread(check_conditions, conditions)  # thousands of values take milliseconds
    except InvalidConditionError as error:
        raise invalid_field(error.inside("conditions").path, str(error)) from error
