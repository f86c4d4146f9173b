"""The ids in the path of a flag."""

from typing import Annotated

from fastapi import Depends

from flagstaff.api.ids import Id
from flagstaff.flags.access import FlagPath


async def _flag_path(project_id: Id, env_id: Id, flag_id: Id) -> FlagPath:
    return FlagPath(project_id, env_id, flag_id)


FlagIds = Annotated[FlagPath, Depends(_flag_path)]
